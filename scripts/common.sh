# SPDX-License-Identifier: Apache-2.0
# Shared by the scripts beside it: sourced, not run. Leaves the caller in the root of the tree.

cd "$(dirname "${BASH_SOURCE[0]}")/.."

# One compiler cache serves clones in different folders: paths below the root are taken relative.
export CCACHE_BASEDIR="$PWD" CCACHE_NOHASHDIR=1

say() { printf '%s\n' "$*" >&2; }
die() {
    say "${0##*/}: $*"
    exit 1
}

# The build folder of a preset.
build_folder() { [ "$1" = default ] && echo build || echo "build-$1"; }

# configure_preset PRESET: again only where CMake has not been there yet; ninja sees to changes later.
configure_preset() {
    local folder
    folder=$(build_folder "$1")
    [ -f "$folder/build.ninja" ] || cmake --preset "$1"
}
