import type { Command } from 'pounce/sdk'
import type { Kernel } from '../kernel/kernel.ts'

type Row = Readonly<Record<string, unknown>>

const mostParked = 1000

/** The kernel's part of `pounce doctor`: how each plugin is, migrations, and events that were dead-lettered. */
export const kernelDoctor = (kernel: Kernel): Command => ({
  name: 'doctor',
  summary: 'Check the installation for problems; changes nothing unless an option says so',
  async run(_input, progress) {
    progress('plugins')
    const { plugins } = await kernel.readiness()
    const rows: Row[] = plugins.map(({ id, ok, message }) => ({
      check: `plugin ${id}`,
      ok,
      ...(message === undefined ? {} : { detail: message }),
    }))
    if (!kernel.outbox) return rows
    progress('events')
    const waiting = Object.values(await kernel.outbox.waiting()).reduce((sum, count) => sum + count, 0)
    const parked = (await kernel.outbox.parked({ limit: mostParked })).length
    const absent = (await kernel.absentConsumers()).map(({ consumer, waiting, kept, remedy }) => ({
      check: `consumer ${consumer}`,
      ok: waiting === 0,
      detail: `${kept}; ${remedy}`,
    }))
    progress('migrations')
    const open = (await kernel.migrations.status()).filter(({ state }) => state !== 'applied')
    const detail = open.map(({ plugin, name, state }) => `${plugin}/${name} ${state}`).join(', ')
    const put = parked === 0 ? `${waiting} waiting` : `${parked} dead letters: see \`pounce events parked\``
    return [
      ...rows,
      { check: 'migrations', ok: open.length === 0, ...(detail === '' ? {} : { detail }) },
      { check: 'events', ok: parked === 0, detail: put },
      ...absent,
    ]
  },
})
