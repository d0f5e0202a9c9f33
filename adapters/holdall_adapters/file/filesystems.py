"""What kind of file system a folder lies on: locks and the boot clock mean nothing on one that hosts share."""

from __future__ import annotations

import re
from pathlib import Path

__all__ = ["file_system_of", "is_shared"]

_MOUNTS = Path("/proc/self/mountinfo")
_OCTAL = re.compile(r"\\([0-7]{3})")
# fmt: off
_SHARED = frozenset(
    {"9p", "afs", "beegfs", "ceph", "cifs", "coda", "davfs", "gfs", "gfs2", "glusterfs", "gpfs", "lustre",
     "ncpfs", "nfs", "nfs4", "ocfs2", "orangefs", "pvfs2", "smb3", "smbfs", "vboxsf", "virtiofs", "vmhgfs"}
)
# fmt: on
_LOCAL_FUSE = frozenset({"fuse.fuse-overlayfs", "fuse.bindfs", "fuseblk"})


def file_system_of(path: Path) -> str | None:
    """Return the type of the file system that a folder lies on, or None where the system does not tell.

    Args:
        path: the folder, with no symbolic link in its path.

    """
    try:
        lines = _MOUNTS.read_text("utf-8", "surrogateescape").splitlines()
    except OSError:
        return None
    found, longest = None, -1
    for line in lines:
        before, _, after = line.partition(" - ")
        mounted = _OCTAL.sub(lambda match: chr(int(match[1], 8)), before.split()[4])
        if path.is_relative_to(mounted) and len(mounted) >= longest:
            found, longest = after.split()[0], len(mounted)
    return found


def is_shared(kind: str) -> bool:
    """Return whether a file system of this type may be used by other hosts, or by whatever serves it.

    Args:
        kind: the type, as the system calls it.

    """
    return kind in _SHARED or (kind.startswith("fuse") and kind not in _LOCAL_FUSE)
