import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import test from 'ava'
import { bootForTest } from 'pounce/sdk/testing'
import { newPerson } from '../support/people.ts'
import { asPromised, lacksCurl, replay, transcript } from '../support/transcript.ts'

const page = await readFile(new URL('../../docs/geostreams.md', import.meta.url), 'utf8')
const missing = lacksCurl()
const transcriptTest = missing === undefined ? test : test.skip

transcriptTest(`the transcript in docs/geostreams.md works as it is${missing === undefined ? '' : ` (${missing})`}`, async t => {
  const steps = transcript(page)
  t.true(steps.length > 15)
  const server = await bootForTest({ t })
  const { key } = await newPerson(server)
  const { code, outputs } = await replay(steps, { P: server.url, KEY: key }, 'true')
  asPromised(t, steps, outputs, 'docs/geostreams.md')
  t.is(code, 0, outputs.at(-1))
})

test('what docs/geostreams.md links to is there', t => {
  const links = [...page.matchAll(/\]\(([^)#\s]+)[^)]*\)/g)].map(([, target = '']) => target)
  t.true(links.length > 4)
  t.deepEqual(
    links.filter(target => !existsSync(new URL(target, new URL('../../docs/', import.meta.url)))),
    [],
  )
})
