#!/bin/sh
# usage: deb.sh VERSION FOLDER   Writes FOLDER/tfgen_VERSION_ARCHITECTURE.deb: what `make install` installs, with the libraries in Debian's
# multiarch folder. `make deb` calls it. Needs dpkg-dev. lintian reports nothing beyond the two findings that its overrides allow.
set -eu
version=$1 folder=$2
architecture=$(dpkg --print-architecture)
libraries=lib/$(dpkg-architecture -qDEB_HOST_MULTIARCH)
maintainer='The tfgen authors <tfgen@example.org>'
made=${SOURCE_DATE_EPOCH:-$(stat -c %Y runtime/api/tfgen.h)}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
root=$work/root
make -s install DESTDIR="$root" PREFIX=/usr LIBDIR="$libraries"
strip --strip-unneeded --remove-section=.comment "$root/usr/$libraries/libtfgen.so.$version" "$root/usr/bin/tfgen" \
    "$root/usr/libexec/tfgen/tfgen-worker"
strip --strip-debug "$root/usr/$libraries/libtfgen.a"
gzip -9n "$root/usr/share/man/man1/tfgen.1"
mv "$root/usr/share/doc/tfgen/LICENSE" "$root/usr/share/doc/tfgen/copyright"
printf 'tfgen (%s) unstable; urgency=low\n\n  * This version.\n\n -- %s  %s\n' "$version" "$maintainer" "$(date -u -R -d "@$made")" |
    gzip -9n >"$root/usr/share/doc/tfgen/changelog.gz"
mkdir -p "$work/debian" "$root/DEBIAN" "$root/usr/share/lintian/overrides"
cat >"$root/usr/share/lintian/overrides/tfgen" <<'OVERRIDES'
# One package, so that command, library, header and documents are of one version.
tfgen: package-name-doesnt-match-sonames libtfgen*
tfgen: link-to-shared-library-in-wrong-package usr/lib/*
OVERRIDES
printf 'Source: tfgen\n\nPackage: tfgen\nArchitecture: any\n' >"$work/debian/control"
depends=$(cd "$work" && dpkg-shlibdeps -O root/usr/bin/tfgen root/usr/libexec/tfgen/tfgen-worker \
    "root/usr/$libraries/libtfgen.so.$version" 2>/dev/null | sed -n 's/^shlibs:Depends=//p')
printf 'activate-noawait ldconfig\n' >"$root/DEBIAN/triggers"
printf 'libtfgen %s tfgen (>= %s)\n' "$(cd "$root/usr/$libraries" && ls libtfgen.so.? | sed 's/.*\.//')" "$version" >"$root/DEBIAN/shlibs"
cat >"$root/DEBIAN/control" <<CONTROL
Package: tfgen
Version: $version
Architecture: $architecture
Maintainer: $maintainer
Section: devel
Priority: optional
Depends: $depends
Recommends: clang
Installed-Size: $(du -sk "$root/usr" | cut -f1)
Description: fused GPU kernels for transformer blocks from a YAML graph of ops
 The command, the C library with its header, specs, device models and
 documents. Compilers and drivers of GPUs are looked for at run time: NVRTC,
 HIPRTC or clang; without a GPU, kernels run on the processor.
CONTROL
(cd "$root" && find usr -type f -print0 | LC_ALL=C sort -z | xargs -0 md5sum) >"$root/DEBIAN/md5sums"
chmod -R u=rwX,go=rX "$root"
mkdir -p "$folder"
dpkg-deb --root-owner-group -Zxz -b "$root" "$folder/tfgen_${version}_$architecture.deb"
