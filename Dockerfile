# Portage, for every role: node, its libraries, the compiled command line with the bundle of workflows, and the packages that these cannot hold.
#   docker build --tag portage:0.1.0 .
# No shell, no package manager, no npm, no compiler, no sources. `npm run image:test` builds it, starts it as all roles and delivers through it.

# Any Debian with node and npm in /usr/local: npm run image:test gives one of its own. Pin a digest that you have checked: BASE=node@sha256:…
ARG BASE=docker.io/library/node:24-bookworm-slim

FROM ${BASE} AS compiled
WORKDIR /build
COPY package.json package-lock.json .npmrc ./
RUN npm install --ignore-scripts --no-audit --no-fund --loglevel=error
COPY . .
RUN mkdir /packed /app && npm pack --pack-destination /packed && tar -xzf /packed/portage-*.tgz -C /app --strip-components=1
# What the compiled code cannot hold: native parts, of this platform alone.
RUN cp package-lock.json /app/ && cd /app && npm install --omit=dev --ignore-scripts --no-audit --no-fund --loglevel=error \
 && node -e "const fs=require('node:fs'),f='node_modules/@temporalio/core-bridge/releases/';for(const d of fs.readdirSync(f))if(!d.startsWith({x64:'x86_64',arm64:'aarch64'}[process.arch])||!d.endsWith('linux-gnu'))fs.rmSync(f+d,{recursive:true})" \
 && rm package-lock.json

# The files of a few Debian packages, and their entries where scanners look for them (as distroless images have them).
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
COPY --from=system /system /
COPY --from=compiled /app /app
LABEL org.opencontainers.image.title="Portage" \
      org.opencontainers.image.licenses="Apache-2.0"
ENV NODE_ENV=production \
    PORTAGE_CONFIG=/etc/portage/portage.yaml
USER 10001:10001
WORKDIR /var/lib/portage
# 8099: the API (role api), 9464: health and metrics of every role, where the config says so.
EXPOSE 8099 9464
ENTRYPOINT ["/usr/local/bin/node", "/app/bin/portage.js"]
CMD ["--help"]
