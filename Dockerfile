# The web interface is built with the development dependencies, which the server does not need.
FROM node:24-slim AS web
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY sdk sdk
COPY plugins/web plugins/web
RUN node_modules/.bin/vite build --config plugins/web/app/vite.config.ts --logLevel warn

FROM node:24-slim
WORKDIR /app
COPY package.json package-lock.json ./
# No package has an install script that is needed.
RUN npm ci --omit=dev --ignore-scripts --no-audit --no-fund && npm cache clean --force
COPY config config
COPY core core
COPY plugins plugins
COPY sdk sdk
COPY --from=web /app/plugins/web/dist plugins/web/dist
RUN mkdir /data && chown node:node /data
USER node
ENV NODE_ENV=production POUNCE_DATA=/data POUNCE_HTTP__HOST=0.0.0.0
VOLUME /data
EXPOSE 9000
HEALTHCHECK --interval=30s --timeout=5s --start-period=20s \
  CMD ["node", "-e", "fetch('http://127.0.0.1:9000/healthz').then(answer => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]
CMD ["node", "--max-semi-space-size=4", "core/main.js", "start"]
