# Everything lies under /opt/npc-crew, so that `COPY --from` puts it on any other glibc base with git and bash (see templates/).
FROM node:24-bookworm AS build
WORKDIR /opt/npc-crew
COPY package*.json .npmrc ./
RUN npm ci
COPY . .
RUN npm run build && npm prune --omit=dev && npm run slim

FROM node:24-bookworm-slim
RUN apt-get update && apt-get install -y --no-install-recommends git bubblewrap ca-certificates && rm -rf /var/lib/apt/lists/*
COPY --from=build /opt/npc-crew/image /opt/npc-crew
RUN ln -s /opt/npc-crew/bin/npc-crew /usr/local/bin/npc-crew
# no ENTRYPOINT: script jobs start a shell; no USER: the workspace belongs to the platform's user
CMD ["npc-crew", "run"]
