"""The cozo database, embedded: the module that `pycozo` drives. The package `cozo` is the friendlier one."""

from .cozo_embedded import *
from .cozo_embedded import __version__
