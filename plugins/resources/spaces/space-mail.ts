import {
  type After,
  fullNameOf,
  Installation,
  Invalid,
  Log,
  Mailer,
  type SpaceRecord,
  Spaces,
  type Stored,
  type StoredEvent,
  type UserRecord,
  Users,
  wantsMail,
  wire,
} from 'pounce/sdk'

type User = UserRecord & Stored
type Told = 'space.member-changed' | 'space.join-requested' | 'space.request-rejected' | 'space.verified' | 'space.removed'

/** Members that are written to about one space at most. */
const mostMembers = 1000
/** Text of people as a part of a subject. */
export const oneLine = (text: string): string => text.replace(/[\p{Cc}\u2028\u2029]+/gu, ' ').slice(0, 900)

/** Writes to those whom a change of a space concerns, as Clowder 1.x does; each gets a mail of their own. After a crash some may get one twice. */
export class SpaceMail {
  #spaces: Spaces
  #users: Users
  #mailer: Mailer
  #installation: Installation
  #log: Log

  constructor(spaces: Spaces, users: Users, mailer: Mailer, installation: Installation, log: Log) {
    this.#spaces = spaces
    this.#users = users
    this.#mailer = mailer
    this.#installation = installation
    this.#log = log
  }

  async handle(told: StoredEvent<Told>): Promise<void> {
    const { id } = told.subject
    const actor = told.actor === undefined ? undefined : await this.#users.get(told.actor)
    const who = actor ? fullNameOf(actor) : 'The server'
    if (told.type === 'space.removed') {
      const { name } = told.data as StoredEvent<'space.removed'>['data']
      return this.#write(await this.#users.admins(), `${who} deleted the space ${name}`)
    }
    const space = await this.#spaces.get(id)
    if (!space) return
    const link = `${this.#installation.baseUrl}/spaces/${id}`
    if (told.type === 'space.verified') return this.#tell(await this.#members(id), `The space ${space.name} has been verified`, link)
    await this.#tellOfMember(space, link, who, told as StoredEvent<Exclude<Told, 'space.verified' | 'space.removed'>>)
  }

  async #tellOfMember(
    { id, name }: SpaceRecord & Stored,
    link: string,
    who: string,
    { type, actor, data }: StoredEvent<'space.member-changed' | 'space.join-requested' | 'space.request-rejected'>,
  ): Promise<void> {
    const member = await this.#users.get(data.user)
    if (!member) return
    const change = 'change' in data ? data.change : type === 'space.join-requested' ? 'asked' : 'rejected'
    const others = actor === member.id ? [] : [member]
    const editors = async () => (await this.#editors(id)).filter(editor => editor.id !== member.id)
    switch (change) {
      case 'added':
        return this.#tell(others, `${who} added you to the space ${name}`, link, 'message' in data ? data.message : undefined)
      case 'role':
        return this.#tell(others, `${who} gave you the role ${await this.#roleOf(member, id)} in the space ${name}`, link)
      case 'removed':
        return this.#tell(others, `${who} removed you from the space ${name}`, link)
      case 'asked':
        return this.#tell(await editors(), `${fullNameOf(member)} requests to join the space ${name}`, link)
      default:
        await this.#tell([member], `Your request to join the space ${name} was ${change}`, link)
        await this.#tell(await editors(), `The request of ${fullNameOf(member)} to join the space ${name} was ${change}`, link)
    }
  }

  async #roleOf(member: User, space: string): Promise<string> {
    const own = member.memberships.filter(held => held.space === space)
    return (await this.#users.membershipsOf({ memberships: own }))[0]?.roleName ?? 'of nobody'
  }

  async #members(space: string): Promise<readonly User[]> {
    const members: User[] = []
    let after: After | undefined
    do {
      const page = await this.#users.peopleOf(space, { limit: 200, ...(after ? { after } : {}) })
      members.push(...page.items)
      after = page.next
    } while (after && members.length < mostMembers)
    return members
  }

  async #editors(space: string): Promise<readonly User[]> {
    const editors: User[] = []
    for (const member of await this.#members(space)) {
      const held = await this.#users.membershipsOf(member)
      if (held.some(one => one.space === space && one.permissions.has('EditSpace'))) editors.push(member)
    }
    return editors
  }

  /** What concerns people as members, if they want mails. */
  #tell(to: readonly User[], said: string, link: string, message?: string): Promise<void> {
    return this.#write(to.filter(wantsMail), said, link, message)
  }

  async #write(to: readonly User[], said: string, link?: string, message?: string): Promise<void> {
    const subject = oneLine(said)
    for (const { id, email, status } of to) {
      if (status === 'Inactive') continue
      try {
        await this.#mailer.send({
          to: [email],
          subject,
          text: `${subject}.\n${message ? `\n${message}\n` : ''}${link ? `\n${link}\n` : ''}`,
        })
      } catch (error) {
        if (!(error instanceof Invalid)) throw error
        this.#log.warn('failed to compose an email about a space', { user: id, error })
      }
    }
  }
}
wire(SpaceMail, Spaces, Users, Mailer, Installation, Log)
