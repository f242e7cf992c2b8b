#!/bin/sh
# Installs the package of build/ beside what it depends on and nothing else, and uses it as an ES module and as CommonJS.
set -eu
cd "$(dirname "$0")"
package=$(ls "$PWD"/build/lockkeeper-*.tgz)
rm -rf build/clean
cp -r build/dependencies build/clean
cd build/clean
npm install --offline --no-audit --no-fund --loglevel=error "$package" >/dev/null
uses='const server = await FakeServer.start();
  const client = new Client(server.address);
  await client.withLock("orders/42", (lock) => { if (!lock.valid) throw new Error("not valid"); });
  await client.close();
  server.close();'
node --input-type=module -e "import { Client } from 'lockkeeper'; import { FakeServer } from 'lockkeeper/testing'; $uses"
node --input-type=commonjs -e "const { Client } = require('lockkeeper'); const { FakeServer } = require('lockkeeper/testing'); (async () => { $uses })();"
echo "node: $(basename "$package") works as an ES module and as CommonJS"
