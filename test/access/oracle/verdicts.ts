import { type CallerName, type Column, columns, type Outcast, outcasts } from '../callers.ts'

/** `closed`: private, and readings are not for everybody either (`makeGeostreamsPublicReadable` off). */
export type Mode = 'public' | 'private' | 'closed'

/** Things that everybody may look at on a private server too, unless it is closed. */
const readings: ReadonlySet<string> = new Set(['sensor', 'stream', 'datapoint'])

/**
 * y: done, or refused for what was sent, never for who sent it. e: as y, or as if it were not there (the rights are held on a thing in
 * the trash, and many routes deal with live things alone). n: 403. u: 404, and the answer is that for an id that nobody has. a: 401. v: 401 or 404,
 * the same as for an id that nobody has. t: 403 because of the terms. x: refused, with whatever 4xx. `.`: there is no such thing.
 */
export type Letter = 'y' | 'e' | 'n' | 'u' | 'a' | 'v' | 't' | 'x' | '.'

/**
 * Columns: anonymous stranger | viewer editor grouped spaceAdmin author | readOnly serverAdmin superAdmin | extractor readKey otherSpaceKey.
 * The middle five have to do with the space `lab`: a Viewer, two Editors (one through a group), an Admin, and somebody who made the things in it.
 * readOnly is an Admin of it whose account only reads. The keys are the Admin's; the last reaches one space, which is not this one.
 */
const private_: Readonly<Record<string, string>> = {
  'own look': '.y yyyyy yyy yyu',
  'own download': '.y yyyyy yyy yyu',
  'own relate': '.y yyyyy nyy yyu',
  'own annotate': '.y yyyyy nyy ynu',
  'own edit': '.y yyyyy nyy nnu',
  'own remove': '.y yyyyy nyy nnu',
  'own rule': '.y yyyyy nyy nnu',
  'own destroy': '.y yyyyy nyy nnu',

  'lab look': 'vu yyyyy yuy yyu',
  'lab download': 'vu nyyyy yuy yyu',
  'lab relate': 'vu nyyyy nuy yyu',
  'lab annotate': 'vu nyyyy nuy ynu',
  'lab edit': 'vu nyyyy nuy nnu',
  'lab remove': 'vu nyyyy nuy nnu',
  'lab rule': 'vu nnnyy nuy nnu',
  'lab destroy': 'vu nnnyy nuy nnu',

  'foreign look': 'vu uuuuu uuy uuu',
  'foreign download': 'vu uuuuu uuy uuu',
  'foreign relate': 'vu uuuuu uuy uuu',
  'foreign annotate': 'vu uuuuu uuy uuu',
  'foreign edit': 'vu uuuuu uuy uuu',
  'foreign remove': 'vu uuuuu uuy uuu',
  'foreign rule': 'vu uuuuu uuy uuu',
  'foreign destroy': 'vu uuuuu uuy uuu',

  'shown look': 'yy yyyyy yyy yyu',
  'shown download': 'an nnnnn nny nnu',
  'shown relate': 'an nnnnn nny nnu',
  'shown annotate': 'an nnnnn nny nnu',
  'shown edit': 'an nnnnn nny nnu',
  'shown remove': 'an nnnnn nny nnu',
  'shown rule': 'an nnnnn nny nnu',
  'shown destroy': 'an nnnnn nny nnu',

  'trashed look': 'vu uuuue uue uuu',
  'trashed download': 'vu uuuue uue uuu',
  'trashed relate': 'vu uuuue uue uuu',
  'trashed annotate': 'vu uuuue uue uuu',
  'trashed edit': 'vu uuuue uue uuu',
  'trashed remove': 'vu ueeee uue uuu',
  'trashed rule': 'vu uuuue uue uuu',
  'trashed destroy': 'vu uuuee uue uuu',

  // People: an account is its owner's. Server admins look after all; whoever shares a space may look.
  'own user look': '.y yyyyy yyy yyy',
  'own user rule': '.y yyyyy nyy nnn',
  'lab user look': 'vu yyyyu yyy yyu',
  'lab user rule': 'vu nnnnu nyy nnu',
  'foreign user look': 'vu uuuuu uyy uuu',
  'foreign user rule': 'vu uuuuu uyy uuu',

  // Whoever may not look at relations does not see them either, and everybody does not hold that right.
  'own relation relate': '.y yyyyy uyy yyu',
  'own relation remove': '.y yyyyy uyy nnu',
  'lab relation relate': 'vu uyyyy uuy yyu',
  'lab relation remove': 'vu uyyyy uuy nnu',
  'shown relation relate': 'vu uuuuu uuy uuu',
  'shown relation remove': 'vu uuuuu uuy uuu',

  // What is sent in pieces is whoever's began it, an extractor of theirs included.
  'own begun': '.y yyyyy nyy ynu',
  'lab begun': 'vu uuuuy uuu uuu',
  'foreign begun': 'vu uuuuu uuu uuu',
  'shown begun': '.. ..... ... ...',
  'trashed begun': '.. ..... ... ...',

  // Whoever made it and nobody else, whatever other rights they have.
  'own written': '.y yyyyy yyy yyy',
  'lab written': 'vx xxxxy xxx xxx',
  'foreign written': 'vx xxxxx xxx xxx',
  'shown written': 'vx xxxxx xxx xxx',
  'trashed written': 'vx xxxxe xxx xxx',

  // Whoever made it, and superadmin mode.
  'own authored': '.y yyyyy yyy yyy',
  'lab authored': 'vx xxxxy xxy xxx',
  'foreign authored': 'vx xxxxx xxy xxx',
  'shown authored': 'vx xxxxx xxy xxx',
  'trashed authored': 'vx xxxxe xxe xxx',

  // Whoever made it; the rest as with `rule`, where even an Admin of the space is not enough.
  'own made': '.y yyyyy nyy nnu',
  'lab made': 'vx xxxxy xxy xxu',
  'foreign made': 'vu uuuuu uuy uuu',
  'shown made': 'an nnnnn nny nnu',
  'trashed made': 'vu uuuue uue uuu',
}

/** What is other on a public server: whoever may look on a private one, and everybody else. */
const public_: Readonly<Record<string, string>> = {
  ...private_,
  'lab look': 'yy yyyyy yyy yyu',
  'lab download': 'an nyyyy yny yyu',
  'lab relate': 'an nyyyy nny yyu',
  'lab annotate': 'an nyyyy nny ynu',
  'lab edit': 'an nyyyy nny nnu',
  'lab remove': 'an nyyyy nny nnu',
  'lab rule': 'an nnnyy nny nnu',
  'lab destroy': 'an nnnyy nny nnu',

  'foreign look': 'yy yyyyy yyy yyu',
  'foreign download': 'an nnnnn nny nnu',
  'foreign relate': 'an nnnnn nny nnu',
  'foreign annotate': 'an nnnnn nny nnu',
  'foreign edit': 'an nnnnn nny nnu',
  'foreign remove': 'an nnnnn nny nnu',
  'foreign rule': 'an nnnnn nny nnu',
  'foreign destroy': 'an nnnnn nny nnu',

  'lab user look': 'yy yyyyy yyy yyu',
  'lab user rule': 'an nnnnn nyy nnu',
  'foreign user look': 'yy yyyyy yyy yyu',
  'foreign user rule': 'an nnnnn nyy nnu',

  'lab relation relate': 'vu uyyyy uuy yyu',
  'lab relation remove': 'vu uyyyy uuy nnu',
  'foreign relation relate': 'vu uuuuu uuy uuu',
  'foreign relation remove': 'vu uuuuu uuy uuu',
  'foreign made': 'an nnnnn nny nnu',
}

/** Where no thing is named: a right of its own kind, or one of the words. */
const withoutThing: Readonly<Record<'public' | 'private', Readonly<Record<string, string>>>> = {
  private: {
    look: 'ay yyyyy yyy yyy',
    read: 'yy yyyyy yyy yyy',
    download: 'ay yyyyy yyy yyy',
    relate: 'ay yyyyy nyy yyy',
    annotate: 'ay yyyyy nyy ynn',
    edit: 'ay yyyyy nyy nnn',
    remove: 'ay yyyyy nyy nnn',
    rule: 'ay yyyyy nyy nnn',
    destroy: 'ay yyyyy nyy nnn',
    anyone: 'yy yyyyy yyy yyy',
    reader: 'ay yyyyy yyy yyy',
    signedIn: 'ay yyyyy yyy yyn',
    acting: 'ay yyyyy yyy ynn',
    lookAround: 'ay yyyyy yyy yyn',
    anyKey: 'ay yyyyy yyy yyy',
    placed: 'ay yyyyy nyy yny',
    account: 'ay yyyyy yyy nnn',
    serverAdmin: 'an nnnnn nyy nnn',
    superAdmin: 'an nnnnn nny nnn',
    nobody: 'an nnnnn nnn nnn',
  },
  public: {
    look: 'yy yyyyy yyy yyy',
    read: 'yy yyyyy yyy yyy',
    download: 'ay yyyyy yyy yyy',
    relate: 'ay yyyyy nyy yyy',
    annotate: 'ay yyyyy nyy ynn',
    edit: 'ay yyyyy nyy nnn',
    remove: 'ay yyyyy nyy nnn',
    rule: 'ay yyyyy nyy nnn',
    destroy: 'ay yyyyy nyy nnn',
    anyone: 'yy yyyyy yyy yyy',
    reader: 'yy yyyyy yyy yyy',
    signedIn: 'ay yyyyy yyy yyn',
    acting: 'ay yyyyy yyy ynn',
    lookAround: 'yy yyyyy yyy yyn',
    anyKey: 'ay yyyyy yyy yyy',
    placed: 'ay yyyyy nyy yny',
    account: 'ay yyyyy yyy nnn',
    serverAdmin: 'an nnnnn nyy nnn',
    superAdmin: 'an nnnnn nny nnn',
    nobody: 'an nnnnn nnn nnn',
  },
}

/** What there is not, under whatever id. */
const absent = 'vu uuuuu uuu uuu'

/** Whoever is not let in at all. */
export const standing: Readonly<Record<Outcast, Letter>> = { inactive: 'a', revoked: 'a', unknownKey: 'a', termsPending: 't' }

const letterAt = (row: string | undefined, caller: Column): Letter | undefined =>
  row?.replaceAll(' ', '')[columns.indexOf(caller)] as Letter | undefined

export const isOutcast = (caller: CallerName): caller is Outcast => (outcasts as readonly string[]).includes(caller)

/** What the oracle says of a right on a thing of a kind in a state; undefined when it says nothing. */
export const onThing = (mode: Mode, caller: Column, right: string, state: string, kind: string): Letter | undefined => {
  if (['deleted', 'unknown', 'other', 'malformed'].includes(state)) return letterAt(absent, caller)
  const rows = mode === 'public' || (mode === 'private' && readings.has(kind)) ? public_ : private_
  // A public space does not make readings public: that is for the whole server to say.
  const named = state === 'archived' ? 'lab' : state === 'shown' && readings.has(kind) ? 'foreign' : state
  const known = right === 'read' ? 'look' : right
  return letterAt(rows[`${named} ${kind} ${known}`] ?? rows[`${named} ${known}`], caller)
}

/** What the oracle says of a right where no thing is named. */
export const onNothing = (mode: Mode, caller: Column, right: string): Letter | undefined => {
  const rows = withoutThing[mode === 'public' ? 'public' : 'private']
  return letterAt(mode === 'closed' && right === 'read' ? rows['look'] : rows[right], caller)
}
