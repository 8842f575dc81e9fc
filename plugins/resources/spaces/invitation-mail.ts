import {
  type Contributions,
  configPort,
  fullNameOf,
  Installation,
  Invalid,
  Log,
  Mailer,
  type SignUpWay,
  SignUpWays,
  Spaces,
  type StoredEvent,
  Users,
  wantsMail,
  wire,
} from 'pounce/sdk'
import { config, type Settings } from './config.ts'
import { Invitations } from './invitations.ts'
import { oneLine } from './space-mail.ts'

/** Writes to those who are invited; after a crash they may get it twice. */
export class InvitationMail {
  #days: number
  #signUps: Contributions<SignUpWay>
  #invitations: Invitations
  #spaces: Spaces
  #users: Users
  #mailer: Mailer
  #installation: Installation
  #log: Log

  constructor(
    { invitationDays }: Settings,
    signUps: Contributions<SignUpWay>,
    invitations: Invitations,
    spaces: Spaces,
    users: Users,
    mailer: Mailer,
    installation: Installation,
    log: Log,
  ) {
    this.#days = invitationDays
    this.#signUps = signUps
    this.#invitations = invitations
    this.#spaces = spaces
    this.#users = users
    this.#mailer = mailer
    this.#installation = installation
    this.#log = log
  }

  async handle({ subject, data }: StoredEvent<'space.invited'>): Promise<void> {
    const [found, space] = await Promise.all([this.#invitations.get(data.invitation), this.#spaces.get(subject.id)])
    if (!found || !space) return
    const [author, user] = await Promise.all([this.#users.get(found.author), this.#users.byEmail(found.email)])
    if (user && !wantsMail(user)) return
    const said = oneLine(`${author ? fullNameOf(author) : 'Somebody'} invites you to the space ${space.name}`)
    const way = user ? `Sign in to accept:\n\n${this.#installation.baseUrl}/spaces/${space.id}` : await this.#wayFor(found.email)
    const text = [
      `${said}.`,
      ...(found.message ? [found.message] : []),
      way,
      'If you do not know what this is about, there is nothing to do.',
    ]
    try {
      await this.#mailer.send({ to: [found.email], subject: said, text: `${text.join('\n\n')}\n` })
    } catch (error) {
      if (!(error instanceof Invalid)) throw error
      this.#log.warn('failed to compose an invitation', { invitation: found.id, error })
    }
  }

  async #wayFor(email: string): Promise<string> {
    const link = await this.#signUps.all()[0]?.linkFor(email, this.#days)
    return link === undefined
      ? 'You have no account here yet: sign in with that of your institution, or ask an admin for one. With this address you join at once.'
      : `Sign up to join, within ${this.#days} days:\n\n${link}`
  }
}
wire(InvitationMail, configPort(config), SignUpWays, Invitations, Spaces, Users, Mailer, Installation, Log)
