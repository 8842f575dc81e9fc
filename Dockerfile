# The web interface and the bundle of the server are built with the development dependencies, which the server does not need.
FROM node:24-slim AS build
WORKDIR /app
COPY package.json package-lock.json ./
# No package has an install script that is needed.
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY config config
COPY core core
COPY plugins plugins
COPY scripts scripts
COPY sdk sdk
RUN node scripts/build-web.ts && node scripts/build-server.ts && npm prune --omit=dev --ignore-scripts --no-audit --no-fund

FROM node:24-slim
WORKDIR /app
# With the times of their files: the bundle is used while its sources are as they were.
COPY --from=build /app .
RUN mkdir /data && chown node:node /data
USER node
# glibc otherwise keeps what each thread freed.
ENV NODE_ENV=production POUNCE_DATA=/data POUNCE_HTTP__HOST=0.0.0.0 MALLOC_ARENA_MAX=2
VOLUME /data
EXPOSE 9000
HEALTHCHECK --interval=30s --timeout=5s --start-period=20s \
  CMD ["node", "-e", "fetch('http://127.0.0.1:9000/healthz').then(answer => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]
CMD ["node", "--max-semi-space-size=8", "core/main.js", "start"]
