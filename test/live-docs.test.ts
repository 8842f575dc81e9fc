import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import test from 'ava'
import { PublicEvents } from 'pounce/sdk'
import { bootForTest } from 'pounce/sdk/testing'
import { newDataset, somebody } from './support/spaces-and-people.ts'
import { lacksCurl } from './support/transcript.ts'
import { webhookTarget } from './support/webhook-target.ts'

const page = (name: string): Promise<string> => readFile(new URL(`../docs/${name}.md`, import.meta.url), 'utf8')
const server = await bootForTest({ config: { outbound: { allow: ['127.0.0.1'] } } })
test.after.always(() => server.stop())

/** The code blocks of a page in one language. */
const blocks = (text: string, language: string): readonly string[] =>
  [...text.matchAll(new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``, 'g'))].map(([, block = '']) => block.trim())

test('the page on live events lists every type with its meaning', async t => {
  const { types } = server.get(PublicEvents)
  const table = ['| Type | Meaning |', '|---|---|', ...Object.entries(types).map(([type, meaning]) => `| \`${type}\` | ${meaning} |`)].join(
    '\n',
  )
  const [, written] = /<!-- types -->\n([\s\S]*?)\n<!-- \/types -->/.exec(await page('live')) ?? []
  t.is(written, table)
})

const curlTest = lacksCurl() === undefined ? test : test.skip

/** Runs a command of a page; one that reads a stream is stopped after `seconds`. */
const run = async (command: string, env: Readonly<Record<string, string>>, seconds?: number): Promise<string> => {
  const sh = promisify(execFile)
  const shell = seconds === undefined ? command : command.replace('curl', `curl --max-time ${seconds}`)
  try {
    return (await sh('sh', ['-c', `${shell.replaceAll('curl ', 'curl -s ')}`], { env: { ...process.env, ...env } })).stdout
  } catch (error) {
    return String((error as { stdout?: unknown }).stdout)
  }
}

curlTest('the commands on the page on live events behave as described', async t => {
  const ann = await somebody(server, 'ann')
  const [command = ''] = blocks(await page('live'), 'sh')
  const env = { KEY: ann.key, URL: server.url }
  const dataset = await newDataset(ann)
  const reading = run(command.replace('type=file.*', 'type=dataset.*&since=2020-01-01'), env, 2)
  t.regex(
    await reading,
    new RegExp(`^retry: \\d+\\nid: [\\d.]+\\n: connected\\n[\\s\\S]*"type":"dataset.created","subject":"dataset/${dataset}"`),
  )
})

curlTest('the commands on the page on webhooks behave as described', async t => {
  const [ann, target] = [await somebody(server, 'ann'), await webhookTarget(t)]
  const [create = '', ...others] = blocks(await page('webhooks'), 'sh').flatMap(block => block.replaceAll('\\\n', ' ').split('\n'))
  const env = { KEY: ann.key, URL: server.url }
  const made = JSON.parse(await run(create.replace('https://example.org/hooks/pounce', target.url), env)) as { id: string; secret: string }
  t.regex(made.secret, /^whsec_/)
  const answers = []
  for (const command of others) answers.push(JSON.parse(await run(command, { ...env, ID: made.id })))
  t.deepEqual(answers[0], [])
  t.like(answers[1], { delivered: true })
  t.deepEqual(answers[2], { resent: 0, hasMore: false })
  t.is(target.received.length, 1)
})
