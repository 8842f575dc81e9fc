import { type EventFilter, Invalid, routesFor, s, TooMany } from 'pounce/sdk'
import { readTime } from 'pounce/sdk/kit'
import { EventLog, type Position, parsePosition } from './event-log.ts'
import { StoredPublicEvents } from './stored-public-events.ts'
import { StreamHub } from './stream-hub.ts'

const CloudEventJson = s.model(
  'CloudEvent',
  s.Object(
    {
      specversion: s.Literal('1.0'),
      id: s.String({ description: 'Equal for repeats of one event' }),
      type: s.String(),
      source: s.String(),
      subject: s.String(),
      time: s.String(),
      datacontenttype: s.Literal('application/json'),
      data: s.Record(s.String(), s.Unknown()),
    },
    { description: 'An event in the JSON format of CloudEvents 1.0' },
  ),
  {
    specversion: '1.0',
    id: '6741c1d2a7c0b8f0d5e4c3b2',
    type: 'file.updated',
    source: 'https://data.example.org',
    subject: 'file/6741c1cfa7c0b8f0d5e4c3a1',
    time: '2026-11-25T08:30:00.000Z',
    datacontenttype: 'application/json',
    data: { id: '6741c1cfa7c0b8f0d5e4c3a1', name: 'cores.csv', status: 'PROCESSED', fields: ['status'] },
  },
)

interface Chosen {
  readonly kind?: readonly string[]
  readonly id?: readonly string[]
  readonly space?: readonly string[]
  readonly type?: readonly string[]
  readonly mine?: boolean
}

const filterOf = ({ kind, id, space, type, mine }: Chosen): EventFilter => ({
  ...(kind && { kinds: kind }),
  ...(id && { ids: id }),
  ...(space && { spaces: space }),
  ...(type && { types: type }),
  ...(mine && { mine }),
})

const route = routesFor('live', { hub: StreamHub, log: EventLog, events: StoredPublicEvents })

export const streamEvents = route({
  method: 'GET',
  path: '/api/live',
  summary: 'Follow events as a stream',
  description:
    'Server-sent events as they happen, each a CloudEvent about a resource that the caller may view at that moment. A client that reconnects sends the id of the last event ' +
    '(`Last-Event-ID`) and receives what it missed; an event `replay.incomplete` comes first when the log no longer has all of it. The last event is `stream.closed` when the credential has ended or the server stops.',
  permission: 'reader',
  query: s.Object({
    kind: s.Optional(
      s.repeated(
        s.String({
          maxLength: 40,
          description: 'Only events about resources of this kind, such as `dataset`, or whose type begins with it; repeatable',
        }),
      ),
    ),
    id: s.Optional(
      s.repeated(
        s.String({
          pattern: '^([0-9a-f]{24}|\\d{1,10})$',
          description: 'Only events about this resource and what is directly in it; sensors and streams by their numbers; repeatable',
        }),
      ),
    ),
    space: s.Optional(
      s.repeated(s.String({ pattern: '^[0-9a-f]{24}$', description: 'Only events about resources in this space; repeatable' })),
    ),
    type: s.Optional(
      s.repeated(s.String({ maxLength: 80, description: 'Only events of this type, such as `file.created`, or `file.*`; repeatable' })),
    ),
    mine: s.Optional(s.Boolean({ description: 'Only events about resources that the caller created' })),
    since: s.Optional(
      s.String({
        maxLength: 40,
        description: 'Replays events since a time (ISO 8601) or a position (the id of an event); `Last-Event-ID` takes precedence',
      }),
    ),
  }),
  responses: { 200: s.events(CloudEventJson) },
  throws: [Invalid, TooMany],
  async handle({ caller, address, query, headers }, { hub, log, events }) {
    const filter = filterOf(query)
    events.check(filter)
    const from = await positionOf(log, headers['last-event-id'], query.since)
    return { status: 200, body: await hub.connect({ caller, address, filter, ...(from && { from }) }) }
  },
})

/** A position that the log no longer has. */
const outdated: Position = { sequence: Number.MAX_SAFE_INTEGER }

/** A position of another server or format is treated as one that the log no longer has. */
const positionOf = async (log: EventLog, last: string | string[] | undefined, since: string | undefined): Promise<Position | undefined> => {
  if (typeof last === 'string' && last !== '') return parsePosition(last) ?? outdated
  if (since === undefined) return undefined
  const position = parsePosition(since)
  if (position) return position
  return (await log.positionAt(new Date(readTime(since, '`since`')).toISOString())) ?? outdated
}
