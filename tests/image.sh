#!/bin/sh
# Runs the Dockerfile's commands where there is no Docker: each stage becomes a folder with a minimal Debian 12 (debootstrap, root), in
# which the stage's RUN and COPY lines are carried out; then `tfgen run` checks a block in the last stage. Exit code: that of the first
# command that fails. Not tested: layers and .dockerignore.
# IMAGE_DIR: where stages are unpacked (default: a temporary folder, removed at the end).
set -eu
top=$(cd "$(dirname "$0")/.." && pwd)
dir=${IMAGE_DIR:-$(mktemp -d)}
debootstrap=${DEBOOTSTRAP:-debootstrap} stage=none
[ "$(id -u)" = 0 ] || { echo "image: needs root for debootstrap and chroot" >&2; exit 2; }
command -v "$debootstrap" >/dev/null || { echo "image: apt-get install debootstrap, or DEBOOTSTRAP=" >&2; exit 2; }
cleanup() {
    for s in "$dir"/stage.*; do umount "$s/proc" 2>/dev/null || true; umount -R "$s/dev" 2>/dev/null || true; done
    [ -n "${IMAGE_DIR:-}" ] || rm -rf "$dir"
}
trap cleanup EXIT
[ -x "$dir/base/bin/sh" ] || $debootstrap --variant=minbase --include=ca-certificates bookworm "$dir/base" >"$dir/base.log" 2>&1
for f in sources.list.d/debian.sources apt.conf.d auth.conf.d; do # packages come from where this machine gets its own
    [ ! -e "/etc/apt/$f" ] || { rm -f "$dir/base/etc/apt/sources.list"; cp -aL "/etc/apt/$f" "$dir/base/etc/apt/$(dirname $f)/"; }
done
cp -L /etc/resolv.conf /etc/hosts "$dir/base/etc/"
rm -rf "$dir/base/etc/ssl/certs"
cp -aL /etc/ssl/certs "$dir/base/etc/ssl/"
run() { # run STAGE COMMAND
    echo "== $1: $2"
    chroot "$dir/stage.$1" /usr/bin/env -i PATH=/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive HOME=/root \
        $(env | grep -iE '^(http|https|no)_proxy=' || true) sh -c "$2"
}
sed -e ':a' -e '/\\$/{N;s/\\\n *//;ba' -e '}' -e '/^#/d;/^$/d' "$top/Dockerfile" >"$dir/lines"
while read -r word rest; do
    case $word in
    FROM)
        stage=${rest##* AS }
        [ "$stage" != "$rest" ] || stage=last
        cp -a "$dir/base" "$dir/stage.$stage"
        mount -t proc proc "$dir/stage.$stage/proc"
        mount --rbind /dev "$dir/stage.$stage/dev" && mount --make-rslave "$dir/stage.$stage/dev"
        ;;
    RUN) run "$stage" "$rest" </dev/null ;;
    COPY)
        case $rest in
        --from=*) from=${rest#--from=} && set -- ${from#* } && cp -a "$dir/stage.${from%% *}$1" "$dir/stage.$stage$2" ;;
        *)
            set -- $rest && mkdir -p "$dir/stage.$stage$2"
            (cd "$top" && git ls-files -z | xargs -0 cp --parents -t "$dir/stage.$stage$2")
            ;;
        esac
        ;;
    ENTRYPOINT) ;;
    *) echo "image: $word is not known here" >&2 && exit 2 ;;
    esac
done <"$dir/lines"
run last 'tfgen run /usr/share/tfgen/specs/llama-block.yaml'
