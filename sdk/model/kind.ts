/** The kinds of Pounce itself. */
export type OwnKind =
  | 'space'
  | 'collection'
  | 'dataset'
  | 'folder'
  | 'file'
  | 'section'
  | 'preview'
  | 'thumbnail'
  | 'metadata'
  | 'comment'
  | 'user'
  | 'group'
  | 'role'
  | 'extractor'
  | 'job'
  | 'key'
  | 'definition'
  | 'vocabulary'
  | 'term'
  | 'relation'
  | 'sensor'
  | 'stream'

/** The kinds that plugins declare, by declaration merging: `interface PluginKinds { instrument: true }`. */
// biome-ignore lint/suspicious/noEmptyInterface: plugins add the members
export interface PluginKinds {}

/** What can have rights, tags, metadata or events, or be their subject. */
export type Kind = OwnKind | keyof PluginKinds

/** Names one resource. */
export interface Ref {
  readonly kind: Kind
  readonly id: string
}

/**
 * Where a resource stands in its life. `importing`: being built below a parent, seen by no one yet.
 * `trashed`: kept with a date, left out of every list, search and count. A deleted one has no record.
 */
export const lifeStates = ['live', 'trashed', 'importing'] as const
/** A state of `lifeStates`. */
export type LifeState = (typeof lifeStates)[number]
