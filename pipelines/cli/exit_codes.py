"""Exit codes: what a command tells the shell that started it."""

from typing import Final

FAILED: Final = 1
WRONG_SETTING: Final = 2
NOTHING_DONE: Final = 3
INTERRUPTED: Final = 130

EXIT_CODES: Final = {
    0: "all is well",
    FAILED: "something went wrong unexpectedly; `why`: nothing is known of the address; `doctor`: there is a problem; "
    "`alerts test`: nobody is told, or a message was not taken; `ping`: an address was refused",
    WRONG_SETTING: "a setting, an argument or the store is wrong",
    NOTHING_DONE: "the site was tried and nothing could be fetched; `refresh`: nothing of any site",
    INTERRUPTED: "interrupted; the same command carries on",
}
