import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'ava'
import { Commands, Conflict } from 'pounce/sdk'
import { bootForTest, type TestServer } from 'pounce/sdk/testing'

const backup = (server: TestServer, to: string) => {
  const command = server
    .get(Commands)
    .all()
    .find(({ name }) => name === 'backup')
  if (!command) throw new Error('There is no command backup')
  return command.run({ arguments: {}, options: { to } }, () => undefined)
}

test('a backup is continued by its own installation and refused for another one, which changes nothing', async t => {
  const [one, other] = [await bootForTest({ t }), await bootForTest({ t })]
  const folder = await mkdtemp(join(tmpdir(), 'pounce-backup-'))
  t.teardown(() => rm(folder, { recursive: true, force: true }))
  const to = join(folder, 'new')
  await backup(one, to)
  await backup(one, to)
  const before = await readdir(to, { recursive: true })
  await t.throwsAsync(async () => backup(other, to), { instanceOf: Conflict, message: /is a backup of another installation/ })
  t.deepEqual(await readdir(to, { recursive: true }), before)
})
