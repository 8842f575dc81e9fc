#!/usr/bin/env -S node --max-semi-space-size=8
// Plain JavaScript: a TypeScript file that is not in the compile cache makes Node load its type stripper (17 MB, 60 ms), and the first file
// is never cached. All other files are TypeScript, or a bundle of it. V8 reads the flag above at startup: see docs/decisions/0003.
import { currentBundle, resolveInBundle } from './bundle.js'
import { enableCompileCache } from './compile-cache.js'

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
if (major < 24 || (major === 24 && minor < 7)) {
  const { runOnInstalledNode } = await import('./installed-node.js')
  if (!(await runOnInstalledNode())) {
    process.stderr.write(
      `Pounce needs Node 24.7 or newer, and this is ${process.version}. \`npm ci\` installs one that \`npm start\` and \`npm run pounce\` use.\n`,
    )
    process.exit(1)
  }
}
if (process.env['POUNCE_LAUNCHER'] !== undefined) (await import('./installed-node.js')).endWithLauncher()

// Set by tests that modify the server's modules: they modify the source tree, not the bundle.
const bundle = process.env['POUNCE_TEST_TREE'] === undefined ? currentBundle() : undefined
enableCompileCache(bundle?.id ?? 'tree')
if (bundle) resolveInBundle(bundle)
else await import('./resolve.js')
const { run, standardOutput, surviveClosedPipes } = bundle
  ? await import(bundle.entry)
  : { ...(await import('./cli/run.ts')), ...(await import('./cli/output.ts')) }
surviveClosedPipes()
process.exitCode = await run(process.argv.slice(2), standardOutput)
// A plugin whose start was abandoned may have left timers and sockets that would keep the process alive. Pending output is written first.
setInterval(() => {
  if (process.stdout.writableLength + process.stderr.writableLength === 0) process.exit()
}, 200).unref()
