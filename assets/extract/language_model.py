"""The model of languages, loaded when this module is imported: whoever starts worker processes preloads it once."""

from typing import Final

from py3langid.langid import MODEL_FILE, LanguageIdentifier

# Probabilities, and not scores that nobody can compare.
IDENTIFIER: Final = LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
