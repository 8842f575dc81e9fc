import { Installation, Invalid, NotFound, ref, routesFor, s, signedIn } from 'pounce/sdk'
import { linkToNext, pageOf } from 'pounce/sdk/kit'
import { type Instrument, Instruments } from './instruments.ts'

const route = routesFor('instruments', { instruments: Instruments, installation: Installation })

const params = s.Object({ id: s.id() })
const text = { name: s.line(200), description: s.prose(10_000), model: s.line(200) }
const InstrumentJson = s.model('Instrument', s.Object({ id: s.id(), ...text, space: s.id(), author: s.id(), created: s.String() }))

const shown = ({ revision: _revision, ...instrument }: Instrument) => instrument

export const createInstrument = route({
  method: 'POST',
  path: '/api/spaces/:id/instruments',
  summary: 'Create an instrument in a space',
  permission: { right: 'EditInstrument', on: ref('space', 'id') },
  params,
  body: s.model('NewInstrument', s.Object(text)),
  responses: { 200: InstrumentJson },
  throws: [Invalid],
  async handle({ params, body, caller }, { instruments }) {
    return { status: 200, body: shown(await instruments.add(body, params.id, signedIn(caller).id)) }
  },
})

export const listInstruments = route({
  method: 'GET',
  path: '/api/spaces/:id/instruments',
  summary: 'List the instruments of a space',
  permission: { right: 'ViewInstrument', on: ref('space', 'id') },
  params,
  query: s.Object({ limit: s.Integer({ default: 100, minimum: 1, maximum: 1000 }), after: s.Optional(s.String({ maxLength: 2000 })) }),
  responses: { 200: s.Array(InstrumentJson) },
  throws: [Invalid],
  async handle({ params, query, url }, { instruments, installation }) {
    const page = await instruments.of(params.id, pageOf(query))
    return { status: 200, body: page.items.map(shown), ...linkToNext(installation.baseUrl, url, page, { dated: false }) }
  },
})

export const getInstrument = route({
  method: 'GET',
  path: '/api/instruments/:id',
  summary: 'Get an instrument',
  permission: { right: 'ViewInstrument', on: ref('instrument', 'id') },
  params,
  responses: { 200: InstrumentJson },
  throws: [NotFound],
  async handle({ params }, { instruments }) {
    const found = await instruments.get(params.id)
    if (!found) throw new NotFound('instrument')
    return { status: 200, body: shown(found) }
  },
})

export const updateInstrument = route({
  method: 'PUT',
  path: '/api/instruments/:id',
  summary: 'Update an instrument',
  permission: { right: 'EditInstrument', on: ref('instrument', 'id') },
  params,
  body: s.model(
    'InstrumentChange',
    s.Object({ name: s.Optional(text.name), description: s.Optional(text.description), model: s.Optional(text.model) }),
  ),
  responses: { 200: s.success() },
  throws: [NotFound],
  async handle({ params, body, caller }, { instruments }) {
    await instruments.change(params.id, body, signedIn(caller).id)
    return { status: 200, body: { status: 'success' } }
  },
})

export const deleteInstrument = route({
  method: 'DELETE',
  path: '/api/instruments/:id',
  summary: 'Delete an instrument',
  permission: { right: 'EditInstrument', on: ref('instrument', 'id') },
  params,
  responses: { 204: s.empty() },
  throws: [NotFound],
  async handle({ params, caller }, { instruments }) {
    await instruments.remove(params.id, signedIn(caller).id)
    return { status: 204, body: undefined }
  },
})
