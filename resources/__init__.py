"""Everything that touches the world, behind the ports of ``resources.ports``."""
