import { Clock, GeoStore, Installation, Invalid, NotFound, Policy, routesFor, Sensors, Streams, s, wire } from 'pounce/sdk'
import type { Ports } from './entity-loader.ts'
import type { EntityRequest, SentOptions } from './query-options.ts'

/** Loaded on the first request: many installations have no geostreams, but all would pay at startup. */
const answering = () => import('./responses.ts')

/** The service: parses paths and options, and answers from the geostreams. */
class SensorThingsService {
  readonly #ports: Ports

  constructor(sensors: Sensors, streams: Streams, geo: GeoStore, policy: Policy, installation: Installation, clock: Clock) {
    this.#ports = {
      ...{ sensors, streams, geo, policy },
      now: () => clock.now().getTime(),
      // The URL may be known only once the server listens.
      get baseUrl(): string {
        return installation.baseUrl
      },
    }
  }

  /** The root resource: the entity sets and their URLs. */
  async root() {
    return (await answering()).rootOf(this.#ports.baseUrl)
  }

  /** Throws `NotFound` for missing and hidden entities, `Invalid` for an unsupported query. */
  async answer(request: EntityRequest): Promise<Readonly<Record<string, unknown>>> {
    return (await answering()).answerOf(this.#ports, request)
  }

  /** The raw value of a property: a string unchanged, everything else as JSON. */
  async value(request: Pick<EntityRequest, 'caller' | 'path'>): Promise<string> {
    return (await answering()).bareValueOf(this.#ports, request)
  }
}
wire(SensorThingsService, Sensors, Streams, GeoStore, Policy, Installation, Clock)

const route = routesFor('sensorthings', { things: SensorThingsService })

const longText = (description: string) => s.Optional(s.String({ maxLength: 4000, description }))

const query = s.Object({
  $filter: longText("Such as `phenomenonTime gt 2020-04-01T00:00:00Z and result lt 5` or `startswith(name,'GR')`"),
  $expand: longText('Links to include inline, such as `Datastreams($expand=Observations($top=1;$orderby=phenomenonTime desc))`'),
  $orderby: longText('`id` or `name`; of Observations `phenomenonTime`; with `asc` or `desc`'),
  $select: longText('Properties to include'),
  $top: s.Optional(s.Integer({ minimum: 0, description: 'Default 100, at most 1,000' })),
  $skip: s.Optional(s.Integer({ minimum: 0, description: 'At most 10,000; follow `@iot.nextLink` to go further' })),
  $count: s.Optional(s.Boolean({ description: 'Adds `@iot.count`, counted up to 100,000' })),
  $resultFormat: s.Optional(s.Literal('dataArray', { description: 'Observations as rows, for each Datastream' })),
  $skiptoken: longText('From an `@iot.nextLink`: the end of the previous page'),
})

const known = new Set(Object.keys(query.properties))

const path = (description: string) => s.String({ minLength: 1, maxLength: 4000, description })

/** Refuses unknown and duplicate options of the standard, because ignoring them would change the result. */
const optionsOf = (sent: s.Static<typeof query>, url: URL): SentOptions => {
  const names = [...url.searchParams.keys()].filter(name => name.startsWith('$'))
  const strange = names.find(name => !known.has(name))
  if (strange !== undefined) throw new Invalid(`${strange.slice(0, 100)} is not supported; supported: ${[...known].join(', ')}`)
  const twice = names.find((name, at) => names.indexOf(name) !== at)
  if (twice !== undefined) throw new Invalid(`Duplicate option ${twice}`)
  return sent
}

const extrasOf = (url: URL): readonly string[] =>
  [...url.searchParams].filter(([name]) => name === 'superAdmin').map(([name, value]) => `${name}=${encodeURIComponent(value)}`)

export const sensorThingsRoot = route({
  method: 'GET',
  path: '/api/sensorthings/v1.1',
  // The standard's examples end with a slash.
  aliases: [{ path: '/api/sensorthings/v1.1/' }],
  summary: 'List the entity sets of OGC SensorThings 1.1',
  permission: { right: 'ViewGeoStream', unscoped: 'The root names the lists that there are, and nothing that is in them.' },
  responses: {
    200: s.Object({
      value: s.Array(s.Object({ name: s.String(), url: s.String() })),
      serverSettings: s.Object({ conformance: s.Array(s.String()) }),
    }),
  },
  handle: async (_request, { things }) => ({ status: 200, body: await things.root() }),
})

export const getSensorThings = route({
  method: 'GET',
  path: '/api/sensorthings/v1.1/:resource*',
  summary: 'Query entities of OGC SensorThings 1.1',
  description:
    "Sensors are Things; each parameter of a stream is a Datastream, such as `Datastreams('5:nitrate')`; each value of a datapoint is an Observation. Paths such as `Things(1)/Datastreams`, `Things(1)/name`, `Things/$ref`. A page can be short, or even empty, and still have an `@iot.nextLink`.",
  permission: {
    right: 'ViewGeoStream',
    unscoped: 'The path is a query; its answer holds only sensors and streams that the caller may see.',
  },
  cost: 'expand',
  params: s.Object({ resource: path("Such as `Things`, `Things(1)`, `Datastreams('5:nitrate')/Observations`") }),
  query,
  responses: { 200: s.Record(s.String(), s.Unknown()) },
  throws: [Invalid, NotFound],
  async handle({ params, query: sent, caller, url }, { things }) {
    const body = await things.answer({ caller, path: params.resource, options: optionsOf(sent, url), extras: extrasOf(url) })
    return { status: 200, body }
  },
})

const aboutValue = {
  method: 'GET',
  permission: {
    right: 'ViewGeoStream',
    unscoped: 'The path is a query; its answer holds only sensors and streams that the caller may see.',
  },
  responses: { 200: s.text() },
  throws: [Invalid, NotFound],
} as const

const property = path('Name of a property')

const entity = path('Such as `Things(1)`')

export const getSensorThingsValue = route({
  ...aboutValue,
  path: '/api/sensorthings/v1.1/:entity/:property/$value',
  summary: 'Get the raw value of a property',
  params: s.Object({ entity, property }),
  handle: async ({ params, caller }, { things }) => ({
    status: 200,
    body: await things.value({ caller, path: `${params.entity}/${params.property}` }),
  }),
})

export const getLinkedSensorThingsValue = route({
  ...aboutValue,
  path: '/api/sensorthings/v1.1/:entity/:link/:property/$value',
  summary: 'Get the raw value of a property of a linked entity',
  params: s.Object({ entity, link: path('Such as `Thing`'), property }),
  handle: async ({ params, caller }, { things }) => ({
    status: 200,
    body: await things.value({ caller, path: `${params.entity}/${params.link}/${params.property}` }),
  }),
})
