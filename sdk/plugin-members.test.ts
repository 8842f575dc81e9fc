import test from 'ava'
import { BlobStore, Clock, definePlugin, on, type PluginDefinition, provide, routesFor, s, wire } from 'pounce/sdk'

class Some {
  readonly name = 'some'
}

const refusalOf = (t: { throws: (work: () => unknown) => Error | undefined }, members: object): string =>
  t.throws(() => definePlugin({ id: 'acme.some', summary: 's', ...members } as PluginDefinition))?.message ?? ''

test('a malformed member is refused, naming the plugin and the expected form', t => {
  const wrong: Readonly<Record<string, readonly unknown[]>> = {
    summary: [undefined, 7],
    apiVersion: ['1'],
    config: [{}, s.Integer(), 'x'],
    environment: ['X'],
    permissions: [[]],
    provides: [{}, [Some], [{ port: 'x', by: 'Some' }]],
    services: ['Bad', [new Some()]],
    routes: [7, []],
    middleware: [[{ phase: 'before', use: () => undefined }], [{ phase: 'beforeRouting', use: 3 }], { phase: 'beforeRouting', by: Some }],
    collections: [{}, ['notes'], [{ name: 'acme.notes' }]],
    events: ['x', [7]],
    handlers: [{}, [Some], [{ types: 'dataset.created', by: Some, name: 'x' }]],
    periodic: [
      5,
      [{ name: 'x', everyMs: 0, task: Some }],
      [{ name: 'x', everyMs: -1, task: Some }],
      [{ name: 'x', everyMs: 1, task: new Some() }],
    ],
    isSwitchable: ['yes'],
    migrations: ['./x'],
  }
  for (const [member, values] of Object.entries(wrong))
    for (const value of values) t.regex(refusalOf(t, { [member]: value }), new RegExp(`^acme\\.some: ${member} must be `), member)
  t.is(refusalOf(t, { handlers: {} }), 'acme.some: handlers must be a list of what on(…) and onBatch(…) return')
  t.is(refusalOf(t, { id: undefined }), 'definePlugin: id must be a text')
})

test('a wrapped port that the plugin does not provide is refused', t => {
  t.is(refusalOf(t, { wraps: [BlobStore] }), 'acme.some: it wraps blobStore but does not provide it')
  t.is(
    refusalOf(t, { wraps: [BlobStore], provides: [provide(Clock, Some as never)] }),
    'acme.some: it wraps blobStore but does not provide it',
  )
})

test('an absent dependency is refused with the class or the group and its place', t => {
  class Needing {}
  t.throws(() => wire(Needing as new (...needs: unknown[]) => object, Clock, undefined as never), {
    message: 'wire(Needing): dependency 2 is undefined: its name may be misspelt, or its module may import this one',
  })
  t.throws(() => routesFor('notes', { clock: Clock, notes: undefined as never }), {
    message: "routesFor('notes'): the dependency notes is undefined: its name may be misspelt, or its module may import this one",
  })
})

test('an unknown member is refused with a suggestion', t => {
  const near = { sumary: 'summary', handler: 'handlers', service: 'services', Provides: 'provides' }
  for (const [name, meant] of Object.entries(near))
    t.is(refusalOf(t, { [name]: [] }), `acme.some: ${name} is not a member of a plugin (did you mean ${meant}?)`)
  t.is(refusalOf(t, { telemetry: true }), 'acme.some: telemetry is not a member of a plugin')
})

test('a permission with an unknown member, verb or role is refused', t => {
  const right = { description: 'Analyze spectra', verb: 'write', roles: ['Editor', 'Admin'] }
  const refused = (changes: object): string => refusalOf(t, { permissions: { AnalyzeSpectrum: { ...right, ...changes } } })
  t.is(refused({ verb: 'wirte' }), 'acme.some: in the permission AnalyzeSpectrum, verb must be one of read, manage, write, delete')
  t.is(refused({ roles: ['Edtor'] }), 'acme.some: in the permission AnalyzeSpectrum, roles must be a list of Viewer, Editor, Admin')
  t.regex(refused({ roles: undefined }), /roles must be a list/)
  t.regex(refused({ description: '' }), /description must be a text/)
  t.regex(refused({ isReading: 'yes' }), /isReading must be true or false/)
  t.regex(refused({ role: ['Editor'] }), /role is not a member of a permission \(did you mean roles\?\)/)
  t.regex(refusalOf(t, { permissions: { AnalyzeSpectrum: 'write' } }), /in the permission AnalyzeSpectrum, it must be an object/)
})

test('the results of SDK functions are valid members, and a plugin may be spread into another one', t => {
  const plugin = definePlugin({
    id: 'acme.some',
    summary: 's',
    config: s.Object({ n: s.Integer({ default: 1 }) }),
    provides: [provide('some' as never, Some)],
    handlers: [on('dataset.created', Some as never, 'some')],
    migrations: new URL('./migrations/', import.meta.url),
  })
  t.is(definePlugin({ ...plugin, id: 'acme.other' }).id, 'acme.other')
})
