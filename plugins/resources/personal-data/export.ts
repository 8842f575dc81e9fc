import {
  Archives,
  type AuditTrail,
  AuditTrails,
  type Bytes,
  type Caller,
  Clock,
  Conflict,
  type Contributions,
  Forbidden,
  Invalid,
  NotFound,
  type Person,
  type PersonalData,
  PersonalDataSources,
  Policy,
  ref,
  routesFor,
  s,
  signedIn,
  TooMany,
  Users,
  wire,
} from 'pounce/sdk'
import { type ArchiveMember, recordAuditNote } from 'pounce/sdk/kit'
import { PersonalErasure } from './erasure.ts'

const maxMemberBytes = 1_048_576

const maxExports = 2

const retrySeconds = 60

/** Copies of a user's personal data, generated while they are sent. */
export class PersonalExport {
  readonly #users: Users
  readonly #sources: Contributions<PersonalData>
  readonly #archives: Archives
  readonly #clock: Clock
  readonly #trails: Contributions<AuditTrail>
  readonly #running = new Set<string>()

  constructor(users: Users, sources: Contributions<PersonalData>, archives: Archives, clock: Clock, trails: Contributions<AuditTrail>) {
    this.#users = users
    this.#sources = sources
    this.#archives = archives
    this.#clock = clock
    this.#trails = trails
  }

  /**
   * A ZIP of JSON files. Throws `TooMany` while an export of the same user, or the maximum number of exports of this server, is in
   * progress.
   */
  async of(id: string, actor: string | undefined): Promise<Bytes> {
    const person = await this.#users.get(id)
    if (!person) throw new NotFound('user')
    if (this.#running.has(id) || this.#running.size >= maxExports)
      throw new TooMany('Too many concurrent exports; try again later', retrySeconds)
    const by = actor === undefined ? {} : { actor }
    await recordAuditNote(this.#trails, { type: 'user.exported', ...by, user: id, subject: { kind: 'user', id } })
    return this.#archives.ofMembers(this.#members(person), `personal-data-${id}.zip`)
  }

  async *#members(person: Person): AsyncGenerator<ArchiveMember> {
    this.#running.add(person.id)
    try {
      const sources = [...Map.groupBy(this.#sources.all(), ({ name }) => name)].sort(([one], [other]) => (one < other ? -1 : 1))
      yield { path: 'README.txt', bytes: Buffer.from(this.#readme(person, sources)) }
      for (const [name, some] of sources) yield* partsOf(name, some, person)
    } finally {
      this.#running.delete(person.id)
    }
  }

  #readme({ id }: Person, sources: readonly (readonly [string, readonly PersonalData[]])[]): string {
    const files = sources.map(([name, some]) => `${name}.json\n    ${some.map(({ summary }) => summary).join('\n    ')}\n`)
    return `Personal data of the account ${id}, as stored at ${this.#clock.now().toISOString()}.

Every file is a JSON array. Long lists go on in files with a number, such as files-2.json.
Ids are those of the API: /api/files/{id}, /api/datasets/{id} and so on. Times are ISO 8601 in UTC.
The bytes of your files are not in here; download them from their datasets.

${files.join('\n')}`
  }
}
wire(PersonalExport, Users, PersonalDataSources, Archives, Clock, AuditTrails)

/** Lists are split into parts, so that memory does not grow with the number of records. */
async function* partsOf(name: string, sources: readonly PersonalData[], person: Person): AsyncGenerator<ArchiveMember> {
  let lines: string[] = []
  let bytes = 0
  let part = 1
  const member = (): ArchiveMember => ({
    path: part === 1 ? `${name}.json` : `${name}-${part}.json`,
    bytes: Buffer.from(lines.length === 0 ? '[]\n' : `[\n${lines.join(',\n')}\n]\n`),
  })
  for (const source of sources) {
    for await (const record of source.export(person)) {
      const line = JSON.stringify(record)
      lines.push(line)
      bytes += line.length
      if (bytes < maxMemberBytes) continue
      yield member()
      part += 1
      lines = []
      bytes = 0
    }
  }
  if (part === 1 || lines.length > 0) yield member()
}

const route = routesFor('users', { exporting: PersonalExport, erasing: PersonalErasure, policy: Policy })

const params = s.Object({ id: s.id() })

const requireFullReach = (caller: Caller): void => {
  if (caller.scope !== 'full' || caller.limits !== undefined)
    throw new Forbidden('This requires a session, the password or an unlimited API key')
}

export const exportPersonalData = route({
  method: 'POST',
  path: '/api/users/:id/export',
  summary: 'Export the personal data of an account',
  description:
    'An addition to Clowder 1.x, for the user and for server admins: a ZIP of JSON files, with a `README.txt` that describes each. Secrets, file contents, and data about other people are not included. The export is recorded in the audit log.',
  permission: { right: 'EditUser', on: ref('user', 'id') },
  stepUp: true,
  params,
  responses: { 200: s.bytes<Bytes>({ 'application/zip': s.bytes() }) },
  throws: [NotFound, Forbidden, TooMany],
  async handle({ params: { id }, caller }, { exporting }) {
    requireFullReach(caller)
    return { status: 200, body: await exporting.of(id, signedIn(caller).id), headers: { 'cache-control': 'no-store' } }
  },
})

export const erasePersonalData = route({
  method: 'DELETE',
  path: '/api/users/:id',
  summary: 'Erase the personal data of an account',
  description:
    'An addition to Clowder 1.x, for the user and for server admins. The account is locked at once and the response is 202; the rest follows within moments. Name, address, profile, credentials, memberships and private records are deleted; the id is kept as "Deleted User", so that references stay valid. With `heir`, the id of an active account, the resources of the user are transferred to it. 409 for the last server admin, and for the last user who can edit a space. Cannot be undone.',
  permission: { right: 'EditUser', on: ref('user', 'id') },
  stepUp: true,
  params,
  query: s.Object({ heir: s.Optional(s.id()) }),
  responses: { 202: s.success() },
  throws: [NotFound, Forbidden, Invalid, Conflict],
  async handle({ params: { id }, query: { heir }, caller }, { erasing, policy }) {
    requireFullReach(caller)
    if (heir !== undefined && (await policy.canOn(caller, 'ViewUser', { kind: 'user', id: heir })) !== 'yes') throw new NotFound('user')
    await erasing.request(id, heir, signedIn(caller).id)
    return { status: 202, body: { status: 'success' } }
  },
})
