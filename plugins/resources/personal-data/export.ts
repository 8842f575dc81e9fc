import {
  type ArchiveMember,
  Archives,
  type AuditTrail,
  AuditTrails,
  type Bytes,
  Clock,
  type Contributions,
  NotFound,
  noteIn,
  type Person,
  type PersonalData,
  PersonalDataSources,
  TooMany,
  Users,
  wire,
} from 'pounce/sdk'

const maxMemberBytes = 1_048_576
const maxExports = 2
const retrySeconds = 60

/** Copies of what is stored about a person, written while they are sent. */
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

  /** A ZIP of JSON files. `TooMany` while one of the same person, or as many as this server makes at once, are being made. */
  async of(id: string, actor: string | undefined): Promise<Bytes> {
    const person = await this.#users.get(id)
    if (!person) throw new NotFound('user')
    if (this.#running.has(id) || this.#running.size >= maxExports)
      throw new TooMany('Too many concurrent exports; try again later', retrySeconds)
    const by = actor === undefined ? {} : { actor }
    await noteIn(this.#trails, { type: 'user.exported', ...by, user: id, subject: { kind: 'user', id } })
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

/** Lists are cut into parts, so that memory does not grow with what a person has made. */
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
