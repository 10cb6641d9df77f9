# The command in an image: Node, the package as npm packs it, and what package-lock.json says that it needs to run.
#   docker build -t idops .
#   docker run --rm -v "$PWD:/project:ro" idops validate
FROM node:24.18.0-slim AS package
WORKDIR /src
COPY package.json package-lock.json ./
RUN npm ci --ignore-scripts
COPY . .
RUN npm pack --pack-destination /tmp
# As npm install --global lays it out; by the lock file, so that the same sources give the same tree.
WORKDIR /out/lib/node_modules/idops
RUN tar -xzf /tmp/idops-*.tgz --strip-components=1 --no-same-owner
RUN cp /src/package-lock.json . && npm ci --omit=dev --ignore-scripts && rm package-lock.json node_modules/.package-lock.json
RUN mkdir /out/bin && ln -s ../lib/node_modules/idops/dist/cli/main.js /out/bin/idops

FROM node:24.18.0-slim
# For a state on a branch: a CI checks the work tree out as another user than the one that runs here.
RUN apt-get update && apt-get install --yes --no-install-recommends ca-certificates git && rm -rf /var/lib/apt/lists/* && git config --system --add safe.directory '*'
# What installs packages is of no use here.
RUN rm -rf /opt/yarn-* /usr/local/bin/corepack /usr/local/bin/npm /usr/local/bin/npx /usr/local/bin/yarn /usr/local/bin/yarnpkg /usr/local/lib/node_modules
COPY --from=package /out /usr/local
# The user "node"; as a number, so that Kubernetes can tell that it isn't root.
USER 1000:1000
WORKDIR /project
ENTRYPOINT ["idops"]
