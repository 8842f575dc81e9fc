import { randomInt } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import test from 'ava'
import { bagZip } from '../support/bags.ts'
import { adminKey, childServer, dataFolder } from '../support/child-server.ts'

const count = 300
const archive = bagZip(Object.fromEntries(Array.from({ length: count }, (_, at) => [`folder ${at % 7}/${at}.txt`, `file ${at}`])))

test('a dataset is complete or absent after the server was killed during its import', async t => {
  t.timeout(120_000)
  const folder = await dataFolder(t)
  let key: string | undefined
  const seen = { whole: 0, none: 0 }
  for (let round = 0; round < 4; round++) {
    const server = await childServer(t, folder)
    key ??= await adminKey(server)
    const call = server.as(key)
    const form = new FormData()
    form.set('bag', new Blob([new Uint8Array(archive)]), `round ${round}.zip`)
    const answer = call('/api/datasets/createfrombag', { method: 'POST', body: form }).then(
      response => response.status,
      () => undefined,
    )
    // The first one may end. Then any moment is valid: the faster the import, the more of these moments are after its end.
    await (round === 0 ? answer : Promise.race([answer, pause(randomInt(400))]))
    server.signal('SIGKILL')
    await server.ended
    const after = await childServer(t, folder)
    const status = await answer
    const found = (await (await after.as(key)('/api/datasets?limit=100')).json()) as { id: string; name: string }[]
    const [dataset] = found.filter(({ name }) => name === `round ${round}`)
    if (dataset) {
      const files = (await (await after.as(key)(`/api/datasets/${dataset.id}/files`)).json()) as unknown[]
      t.is(files.length, count)
      seen.whole += 1
    } else {
      t.not(status, 200)
      seen.none += 1
    }
    after.signal('SIGTERM')
    await after.ended
  }
  t.is(seen.whole + seen.none, 4)
  t.true(seen.whole > 0)
})
