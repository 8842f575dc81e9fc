import { createHash } from 'node:crypto'
import {
  type CommentRecord,
  CommitConflict,
  DocumentStore,
  event,
  isIn,
  Policy,
  type Ref,
  Sections,
  type Stored,
  type UserRecord,
  Users,
  wire,
} from 'pounce/sdk'
import { removeFound, trimEnd } from 'pounce/sdk/kit'
import { mentions } from './stored-comments.ts'

/** A mention in a text: an address, or words that may be a name, the longest candidate first. */
type MentionText = { readonly email: string } | { readonly words: readonly string[] }

const maxPeople = 20

const maxWords = 5

/** An `@` without a character before it, so that `ann@example.org` is no mention. */
const sign = /(?<![\p{L}\p{M}\p{N}._%+@-])@/gu

const address = /^([^\s@:<>()[\],;"']{1,64}@[\p{L}\p{N}.-]*[\p{L}\p{N}])/u

const nameWords = /^([\p{L}\p{N}][\p{L}\p{M}\p{N}.'’-]*)((?: +[\p{L}\p{N}][\p{L}\p{M}\p{N}.'’-]*)*)/u

/** Finds `@ann@example.org` and `@Ann Lovelace` in a comment; the first 20. */
export const mentionsIn = (text: string): readonly MentionText[] => {
  const found: MentionText[] = []
  const normal = text.normalize('NFC')
  for (const { index } of normal.matchAll(sign)) {
    const rest = normal.slice(index + 1, index + 400)
    const email = address.exec(rest)?.[1]
    const words = nameWords.exec(rest)?.[0].split(/ +/).slice(0, maxWords)
    if (email) found.push({ email })
    else if (words && words.length > 1) found.push({ words })
    if (found.length === maxPeople) break
  }
  return found
}

/** The spellings of a last name that a word may stand for: without punctuation, such as the end of a sentence, and without a genitive's `'s`. */
const spellingsOf = (last: string): readonly string[] => {
  const trimmed = trimEnd(last, ".'’-")
  const spellings = [trimmed, last, trimmed.replace(/['’]s$/u, '')]
  return [...new Set(spellings.flatMap(one => [one, one.replaceAll('’', "'")]))]
}

/** Candidates for first and last names, the longest first: `Ann Maria Lovelace said` is tried with every division. */
export const namesIn = (words: readonly string[]): readonly (readonly [firstName: string, lastName: string])[] => {
  const names: (readonly [string, string])[] = []
  for (let length = words.length; length > 1; length -= 1)
    for (let first = 1; first < length; first += 1) {
      for (const last of spellingsOf(words.slice(first, length).join(' '))) names.push([words.slice(0, first).join(' '), last])
    }
  return names
}

type User = UserRecord & Stored

/** A user to notify of a mention. */
export interface Mention {
  readonly user: User
  /** The account of the comment's author. */
  readonly by: string
  readonly target: Ref
  readonly comment: string | null
}

/** Finds the accounts that comments mention, and notifies those that may view the subject. */
export class Mentions {
  #documents: DocumentStore
  #users: Users
  #sections: Sections
  #policy: Policy

  constructor(documents: DocumentStore, users: Users, sections: Sections, policy: Policy) {
    this.#documents = documents
    this.#users = users
    this.#sections = sections
    this.#policy = policy
  }

  /** Notifies all users that a comment mentions: once each, however often it is edited. */
  async notifyAll({ id, text, author, target }: CommentRecord & Stored): Promise<void> {
    const writer = await this.#users.get(author)
    if (!writer) return
    const asWriter = await this.#users.callerOf(writer)
    for (const each of mentionsIn(text))
      for (const user of await this.#usersOf(each)) {
        const isKnown = user.id !== author && (await this.#policy.canOn(asWriter, 'ViewUser', { kind: 'user', id: user.id })) === 'yes'
        if (isKnown) await this.notify({ user, by: author, target, comment: id })
      }
  }

  /** False if the user may not view the subject, and so is not notified. Idempotent. */
  async notify({ user, by, target, comment }: Mention): Promise<boolean> {
    if (!(await this.maySee(user, target))) return false
    const about = await this.#pageOf(target)
    if (!about) return false
    const id = createHash('sha256')
      .update(JSON.stringify([about.id, comment, user.id, by]))
      .digest('hex')
      .slice(0, 24)
    const mentioned = event(
      'comment.mentioned',
      { kind: 'user', id: user.id },
      { target: about, notice: id, ...(comment !== null && { comment }) },
      by,
    )
    try {
      await this.#documents.commit({ insert: { id, target: about, comment, user: user.id, by, isMailed: false }, into: mentions }, [
        mentioned,
      ])
    } catch (error) {
      if (!(error instanceof CommitConflict && error.reason === 'exists')) throw error
    }
    return true
  }

  async maySee(user: User, target: Ref): Promise<boolean> {
    if (user.status === 'Inactive') return false
    return (await this.#policy.canOn(await this.#users.callerOf(user), 'ViewComments', target)) === 'yes'
  }

  /** Deletes the mention records of deleted resources. */
  async removeAllOf(targets: readonly string[]): Promise<void> {
    await removeFound(this.#documents, mentions, { using: 'byTarget', where: isIn('target.id', targets) })
  }

  async #usersOf(mention: MentionText): Promise<readonly User[]> {
    if ('email' in mention) return [await this.#users.byEmail(mention.email)].filter(user => user !== undefined)
    for (const [firstName, lastName] of namesIn(mention.words)) {
      const people = await this.#users.named(firstName, lastName)
      if (people.length > 0) return people
    }
    return []
  }

  /** The file of a section: sections have no page of their own. */
  async #pageOf(target: Ref): Promise<Ref | undefined> {
    if (target.kind !== 'section') return target
    const section = await this.#sections.get(target.id)
    return section && { kind: 'file', id: section.file }
  }
}
wire(Mentions, DocumentStore, Users, Sections, Policy)
