import { readFile, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import test from 'ava'
import { bootForTest } from 'pounce/sdk/testing'
import { somebody } from '../support/spaces-and-people.ts'
import { tempFolder } from '../support/temp-folder.ts'
import { asPromised, replay, transcript } from '../support/transcript.ts'

const page = await readFile(new URL('../../docs/command-line.md', import.meta.url), 'utf8')

test('the example on the page runs as written', async t => {
  const server = await bootForTest({ t })
  const ada = await somebody(server)
  const home = await tempFolder(t)
  await symlink(fileURLToPath(new URL('../../core/main.js', import.meta.url)), join(home, 'pounce'))
  const steps = transcript(page)
  t.true(steps.length > 10)
  const variables = {
    ...{ P: server.url, EMAIL: ada.email, PASSWORD: ada.password },
    ...{ PATH: `${home}:${process.env['PATH']}`, XDG_CONFIG_HOME: join(home, 'config') },
  }
  const { code, outputs } = await replay(steps, variables, 'rm -r "$OUT"')
  asPromised(t, steps, outputs, 'docs/command-line.md')
  t.is(code, 0, outputs.at(-1))
})
