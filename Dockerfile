# Portage's image, for every role. Contains node with its libraries, the compiled command line, the bundle of workflows,
# and packages that cannot be compiled, but no shell, package manager, npm, compiler or sources.
#   docker build --tag portage:1.0.0 .
# `npm run image:test` builds the image, starts every role from it, and delivers transfers.

# The base is a Debian with node and npm in /usr/local and the package ca-certificates, which node's -slim images lack.
# `npm run image:test` makes a base of its own. Pin a digest that you have checked: BASE=node@sha256:…
ARG BASE=docker.io/library/node:24-bookworm

FROM ${BASE} AS compiled
WORKDIR /build
COPY package.json package-lock.json .npmrc ./
RUN npm ci --omit=dev --ignore-scripts --no-audit --no-fund --loglevel=error
COPY . .
# The files that `npm run release` packs, and the native parts for this platform, which npm would install.
RUN set -eu; \
    node --import tsx --input-type=module --eval "const { stage } = await import('/build/scripts/release/stage.ts'); await stage('/app')"; \
    bridge=node_modules/@temporalio/core-bridge; platform="$(uname -m)-unknown-linux-gnu"; \
    mkdir -p "/app/$bridge/releases"; \
    cp "$bridge/package.json" "/app/$bridge/"; \
    cp -R "$bridge/releases/$platform" "/app/$bridge/releases/"; \
    case "$platform" in x86_64*) cpu=linux-x64 ;; *) cpu=linux-arm64 ;; esac; \
    find /app/node_modules/secp256k1/prebuilds -mindepth 1 -maxdepth 1 ! -name "$cpu" -exec rm -r {} +; \
    # Two starts make V8 store compiled code in /app, where no process can write later.
    node /app/bin/portage.js --help > /dev/null; node /app/bin/portage.js run --role all --config /none > /dev/null 2>&1 || true

# The files of a few Debian packages, with their entries in status.d, where scanners look (as in distroless images).
FROM ${BASE} AS system
RUN set -eu; \
    mkdir -p /system/usr/lib /system/usr/lib64 /system/usr/bin /system/usr/sbin /system/var/lib/dpkg/status.d /system/etc/ssl/certs; \
    for name in bin lib sbin lib64; do ln -s "usr/$name" "/system/$name"; done; \
    for package in base-files ca-certificates libc6 libgcc-s1 libstdc++6; do \
      dpkg -L "$package" \
        | grep -vE '^/usr/share/(doc|locale|man|lintian|info|common-licenses|base-files|gdb|gcc)(/|$)|^/usr/lib/[^/]*/gconv/|^/usr/sbin/|^/etc/ca-certificates|^/(root|home|boot)' \
        | while read -r file; do if [ -f "$file" ]; then echo "$file"; fi; done \
        | tar --create --no-recursion --files-from=- --file=- \
        | tar --extract --keep-directory-symlink --file=- --directory=/system; \
      dpkg -s "$package" > "/system/var/lib/dpkg/status.d/$package"; \
    done; \
    cp /etc/ssl/certs/ca-certificates.crt /system/etc/ssl/certs/; \
    mkdir -p /system/usr/local/bin /system/etc/portage /system/run/secrets /system/dev /system/proc /system/sys /system/var/lib/portage; \
    cp /usr/local/bin/node /system/usr/local/bin/; \
    printf 'root:x:0:0:root:/:/sbin/nologin\nportage:x:10001:10001:portage:/var/lib/portage:/sbin/nologin\n' > /system/etc/passwd; \
    printf 'root:x:0:\nportage:x:10001:\n' > /system/etc/group; \
    printf 'hosts: files dns\n' > /system/etc/nsswitch.conf; \
    mkdir -p -m 1777 /system/tmp; \
    chown 10001:10001 /system/var/lib/portage; chmod 0700 /system/var/lib/portage

FROM scratch
# Each release has its own build id. The config can use the id as worker.deployment.buildId: ${PORTAGE_BUILD_ID}.
ARG BUILD_ID=1.0.0
COPY --from=system /system /
COPY --from=compiled /app /app
LABEL org.opencontainers.image.title="Portage" \
      org.opencontainers.image.licenses="Apache-2.0"
ENV NODE_ENV=production \
    PORTAGE_BUILD_ID=${BUILD_ID} \
    PORTAGE_CONFIG=/etc/portage/portage.yaml
USER 10001:10001
WORKDIR /var/lib/portage
# The usual ports, which the config can change. 8099: the API (role api). 9464: health and metrics of every role.
EXPOSE 8099 9464
ENTRYPOINT ["/usr/local/bin/node", "/app/bin/portage.js"]
CMD ["--help"]
