import { setImmediate as turn } from 'node:timers/promises'
import test, { type ExecutionContext } from 'ava'
import { collection, DocumentStore, definePlugin, event, on, type Plugin } from 'pounce/sdk'
import { recordingLog } from '../../test/support/recording-log.ts'
import { tempFolder } from '../../test/support/temp-folder.ts'
import { bootKernel, type Kernel } from '../boot.ts'
import { loadConfig } from './config.ts'
import { pounce } from './fixtures/pounce.ts'

const things = collection('things')
const owner = definePlugin({ id: 'test.things', summary: 's', collections: [things] })

const hearing = (seen: string[]): Plugin =>
  definePlugin({
    id: 'test.hear',
    summary: 's',
    handlers: [
      on(
        'file.updated',
        class Recorder {
          async handle({ subject }: { readonly subject: { readonly id: string } }): Promise<void> {
            seen.push(subject.id)
          }
        },
        'hear',
      ),
    ],
  })

const lines = new WeakMap<Kernel, Record<string, unknown>[]>()

/** A started kernel with the records in the folder. */
const started = async (t: ExecutionContext, data: string, ...plugins: Plugin[]): Promise<Kernel> => {
  const settings = { data, roles: ['worker'], log: { level: 'silent' } }
  const { log, lines: logged } = recordingLog()
  const kernel = await bootKernel(await loadConfig({ defaults: {}, plugins: ['documents.sqlite', owner, ...plugins], settings }), { log })
  lines.set(kernel, logged)
  t.teardown(() => kernel.stop())
  await kernel.start()
  return kernel
}

const update = (kernel: Kernel, id: string) =>
  kernel.get(DocumentStore).commit({ insert: { id }, into: things }, [event('file.updated', { kind: 'file', id }, { fields: [] })])

const doctor = async (folder: string) => {
  const { code, out } = await pounce(['doctor', '--json', '--data', folder, '--set', 'plugins=documents.sqlite'])
  return { code, rows: JSON.parse(out) as { readonly check: string; readonly ok: boolean; readonly detail?: string }[] }
}

test('events of a plugin that is not loaded are kept, and the kernel reports them', async t => {
  const folder = await tempFolder(t)
  const seen: string[] = []
  const first = await started(t, folder, hearing(seen))
  await update(first, 'one')
  await first.drained()
  await first.stop()
  const without = await started(t, folder)
  await update(without, 'two')
  await update(without, 'three')
  let report = await without.readiness()
  while ((report.absent?.[0]?.waiting ?? 0) < 2) {
    await turn()
    report = await without.readiness()
  }
  t.true(report.ready)
  t.like(report.absent?.[0], { consumer: 'test.hear/hear', waiting: 2 })
  t.true(Date.parse(report.absent?.[0]?.oldest ?? '') > 0)
  await without.stop()
  const again = await started(t, folder)
  t.like(
    lines.get(again)?.find(({ message }) => message === 'Events are stored for a consumer that is not loaded'),
    { level: 'warn', consumer: 'test.hear/hear', waiting: 2 },
  )
  await again.stop()
  const { code, rows } = await doctor(folder)
  t.is(code, 1)
  const row = rows.find(({ check }) => check === 'consumer test.hear/hear')
  t.false(row?.ok)
  t.regex(row?.detail ?? '', /^2 events wait, the oldest since .*load it, or drop them with `pounce events forget test\.hear\/hear`$/)
  const back = await started(t, folder, hearing(seen))
  await back.drained()
  t.deepEqual(seen.sort(), ['one', 'three', 'two'])
  t.deepEqual((await back.readiness()).absent, [])
})

test('kept events are dropped only by an operator, or by the plugin itself', async t => {
  const folder = await tempFolder(t)
  await (await started(t, folder, hearing([]))).stop()
  const without = await started(t, folder)
  await update(without, 'one')
  await without.stop()
  const forget = (consumer: string) =>
    pounce(['events', 'forget', consumer, '--json', '--data', folder, '--set', 'plugins=documents.sqlite'])
  t.regex((await forget('test.hear/here')).err, /Unknown consumer test\.hear\/here; events are kept for test\.hear\/hear/)
  t.deepEqual(JSON.parse((await forget('test.hear/hear')).out), { forgotten: 'test.hear/hear', dropped: 1 })
  t.is((await doctor(folder)).code, 0)
  const seen: string[] = []
  const back = await started(t, folder, hearing(seen))
  await back.drained()
  t.deepEqual(seen, [])
  await back.stop()
  const changed = definePlugin({ id: 'test.hear', summary: 's', formerHandlers: ['hear'] })
  t.deepEqual((await (await started(t, folder, changed)).readiness()).absent, [])
})
