import {
  authorize,
  type Bytes,
  type Caller,
  configPort,
  Forbidden,
  Installation,
  Invalid,
  multipart,
  NotFound,
  type Parts,
  type Permission,
  Policy,
  type Ref,
  routesFor,
  type Stored,
  s,
  signedIn,
  TooLarge,
  wire,
} from 'pounce/sdk'
import {
  afterParameter,
  linkToNext,
  pageOf,
  readAfter,
  readNamedAfter,
  requireRecentAuthentication,
  requireServerAdmin,
  streamed,
} from 'pounce/sdk/kit'
import { config, type Logo, StoredLogos, standIn } from './stored-logos.ts'

/** The owner in a logo's path; undefined for an invalid path. */
const ownerOf = (path: string): Ref | 'everyone' | undefined => {
  if (path === 'GLOBAL') return 'everyone'
  const [, kind, id] = /^(space|user)-(.+)$/.exec(path) ?? []
  if ((kind !== 'space' && kind !== 'user') || !s.isId(id)) return undefined
  return { kind, id }
}

const permissions: Readonly<Record<string, { readonly seeing: Permission; readonly changing: Permission }>> = {
  space: { seeing: 'ViewSpace', changing: 'EditSpace' },
  user: { seeing: 'ViewUser', changing: 'EditUser' },
}

/** A logo has the rights of its owner. */
class LogoRights {
  #policy: Policy

  constructor(policy: Policy) {
    this.#policy = policy
  }

  /** Refuses callers who may not change the logos of a path. */
  async mustChange(caller: Caller, path: string): Promise<void> {
    const owner = ownerOf(path)
    if (owner === undefined) throw new Forbidden('The path of a logo must be GLOBAL, space-<id> or user-<id>')
    if (owner === 'everyone') return requireServerAdmin(caller, 'Only a server admin may change the logos of the installation')
    await authorize(this.#policy, caller, permissions[owner.kind]?.changing ?? 'EditUser', owner)
    if (owner.kind === 'user' && owner.id !== caller.user?.id) requireRecentAuthentication(caller)
  }

  /** Logos of the installation are public; those of a space or user are visible to callers who may view it. */
  async maySee(caller: Caller, path: string): Promise<boolean> {
    const owner = ownerOf(path)
    if (owner === undefined || owner === 'everyone') return owner !== undefined
    return (await this.#policy.canOn(caller, permissions[owner.kind]?.seeing ?? 'ViewUser', owner)) === 'yes'
  }
}
wire(LogoRights, Policy)

/** A multipart body with a logo. */
interface SentLogo {
  readonly path: string
  readonly name: string
  readonly showText: boolean
  readonly picture: Buffer
}

const pattern = /^[^\u0000-\u001f\u007f/\\?#]{1,100}$/

const nameIn = (fields: ReadonlyMap<string, string>, field: 'name' | 'path'): string => {
  const text = fields.get(field)
  // A logo with this name would have the URL of another logo's image.
  if (text === undefined || !pattern.test(text) || text === 'blob')
    throw new Invalid(`${field} is missing or invalid: a text field of 1 to 100 characters without slashes, and not blob`)
  return text
}

/** Reads the whole body: text fields may follow the image, and determine whether it may be stored at all. */
const readLogo = async (parts: Parts, maxBytes: number): Promise<SentLogo> => {
  const fields = new Map<string, string>()
  let picture: Buffer | undefined
  for await (const part of parts) {
    if (part.kind === 'field') fields.set(part.field, part.value)
    else if (part.field !== 'image' || picture) part.skip()
    else {
      const pieces: Buffer[] = []
      let length = 0
      for await (const piece of part.stream as AsyncIterable<Buffer>) {
        length += piece.length
        if (length > maxBytes) throw new TooLarge(`A logo must be at most ${maxBytes} bytes`)
        pieces.push(piece)
      }
      picture = Buffer.concat(pieces)
    }
  }
  const [path, name] = [nameIn(fields, 'path'), nameIn(fields, 'name')]
  if (!picture) throw new Invalid('image is missing: a file part with the image')
  const showText = fields.get('showText') ?? 'true'
  if (showText !== 'true' && showText !== 'false') throw new Invalid('showText must be true or false')
  return { path, name, showText: showText === 'true', picture }
}

/** By its id, or by its path and name. */
export type Named = { readonly id: string } | { readonly path: string; readonly name: string }

/** The dependencies of the routes for a single logo. */
export interface LogoNeeds {
  readonly logos: StoredLogos
  readonly access: LogoRights
}

/** An existing logo that the caller may view. */
export const seen = async ({ logos, access }: LogoNeeds, caller: Caller, named: Named): Promise<(Logo & Stored) | undefined> => {
  const found = await ('id' in named ? logos.get(named.id) : logos.at(named.path, named.name))
  return found && (await access.maySee(caller, found.path)) ? found : undefined
}

/** Like `seen`, but throws `NotFound`. */
const existing = async (resolved: LogoNeeds, caller: Caller, named: Named): Promise<Logo & Stored> => {
  const found = await seen(resolved, caller, named)
  if (!found) throw new NotFound('logo')
  return found
}

/** A logo that the caller may change. */
const changeable = async (resolved: LogoNeeds, caller: Caller, named: Named): Promise<Logo & Stored> => {
  const found = await existing(resolved, caller, named)
  await resolved.access.mustChange(caller, found.path)
  return found
}

const needs = { logos: StoredLogos, access: LogoRights }

const route = routesFor('logos', needs)

const params = s.Object({ id: s.id() })

const place = s.Object({ path: s.String({ maxLength: 100 }), name: s.String({ maxLength: 100 }) })

const LogoItem = s.model(
  'Logo',
  s.Object({
    id: s.String(),
    length: s.Integer(),
    path: s.String({ description: '`GLOBAL`, `space-<id>` or `user-<id>`' }),
    name: s.String(),
    'content-type': s.String(),
    created: s.v1Date(),
    author: s.String(),
    showText: s.Boolean({ description: 'Whether the name is shown beside it' }),
  }),
)

const shown = s.Object({ showText: s.Boolean() })

const toItem = (logo: Logo & Stored): s.Static<typeof LogoItem> => ({
  id: logo.id,
  length: logo.sizeBytes,
  path: logo.path,
  name: logo.name,
  'content-type': logo.contentType,
  created: s.toV1Date(logo.created),
  author: logo.author,
  showText: logo.showText,
})

const success = { status: 200, body: { status: 'success' } } as const

const noContent = { status: 204, body: undefined } as const

export const listLogos = routesFor('logos', { ...needs, installation: Installation })({
  method: 'GET',
  path: '/api/logos',
  summary: 'List logos',
  permission: 'signedIn',
  query: s.Object({
    path: s.Optional(s.String({ maxLength: 100 })),
    name: s.Optional(s.String({ maxLength: 100 })),
    limit: s.Integer({ default: 100, minimum: 1, maximum: 1000 }),
    after: afterParameter(400),
  }),
  responses: { 200: s.Array(LogoItem) },
  throws: [Invalid],
  async handle({ query, caller, url }, { logos, access, installation }) {
    const { path, name } = query
    // Logos of one path are sorted by name, others by date.
    const page = await logos.page({ path, name }, pageOf(query, path === undefined ? readAfter : readNamedAfter))
    const items: s.Static<typeof LogoItem>[] = []
    for (const logo of page.items) if (await access.maySee(caller, logo.path)) items.push(toItem(logo))
    return { status: 200, body: items, ...linkToNext(installation.baseUrl, url, page, { dated: false }) }
  },
})

export const putLogo = routesFor('logos', { ...needs, config: configPort(config) })({
  method: 'POST',
  path: '/api/logos',
  summary: 'Upload or replace a logo',
  description:
    'The path `GLOBAL` requires a server admin, `space-<id>` the right to edit the space, `user-<id>` the right to edit the account. Replaces a logo of the same path and name. PNG, JPEG, GIF or WebP.',
  permission: 'signedIn',
  body: multipart('Text fields `path` and `name`, optionally `showText`, and the file part `image`', 20, {
    path: 'text',
    name: 'text',
    showText: 'text',
    image: 'file',
  }),
  responses: { 200: LogoItem },
  throws: [Invalid, Forbidden, NotFound, TooLarge],
  async handle({ body, caller }, { logos, access, config }) {
    const sent = await readLogo(body, config.maxKiB * 1024)
    await access.mustChange(caller, sent.path)
    return { status: 200, body: toItem(await logos.put({ ...sent, author: signedIn(caller).id })) }
  },
})

export const getLogo = route({
  method: 'GET',
  path: '/api/logos/:id',
  summary: 'Get a logo',
  description: 'Logos of the installation are public; those of a space or user are visible to those who may view it.',
  permission: 'anyone',
  params,
  responses: { 200: LogoItem },
  throws: [NotFound],
  async handle({ params, caller }, resolved) {
    return { status: 200, body: toItem(await existing(resolved, caller, params)) }
  },
})

export const getLogoAt = route({
  method: 'GET',
  path: '/api/logos/:path/:name',
  summary: 'Get a logo by path and name',
  permission: 'anyone',
  params: place,
  responses: { 200: LogoItem },
  throws: [NotFound],
  async handle({ params, caller }, resolved) {
    return { status: 200, body: toItem(await existing(resolved, caller, params)) }
  },
})

export const changeLogo = route({
  method: 'PUT',
  path: '/api/logos/:id',
  summary: "Set whether a logo's name is shown",
  permission: 'signedIn',
  params,
  body: shown,
  responses: { 200: s.success() },
  throws: [Invalid, Forbidden, NotFound],
  async handle({ params, body, caller }, resolved) {
    await resolved.logos.setShowText(await changeable(resolved, caller, params), body.showText)
    return success
  },
})

export const changeLogoAt = route({
  method: 'PUT',
  path: '/api/logos/:path/:name',
  summary: "Set whether a logo's name is shown, by path and name",
  permission: 'signedIn',
  params: place,
  body: shown,
  responses: { 200: s.success() },
  throws: [Invalid, Forbidden, NotFound],
  async handle({ params, body, caller }, resolved) {
    await resolved.logos.setShowText(await changeable(resolved, caller, params), body.showText)
    return success
  },
})

export const deleteLogo = route({
  method: 'DELETE',
  path: '/api/logos/:id',
  summary: 'Delete a logo',
  permission: 'signedIn',
  params,
  responses: { 204: s.empty() },
  throws: [Forbidden, NotFound],
  async handle({ params, caller }, resolved) {
    await resolved.logos.remove(await changeable(resolved, caller, params))
    return noContent
  },
})

export const deleteLogoAt = route({
  method: 'DELETE',
  path: '/api/logos/:path/:name',
  summary: 'Delete a logo by path and name',
  permission: 'signedIn',
  params: place,
  responses: { 204: s.empty() },
  throws: [Forbidden, NotFound],
  async handle({ params, caller }, resolved) {
    await resolved.logos.remove(await changeable(resolved, caller, params))
    return noContent
  },
})

const pictureRoute = routesFor('logos', { logos: StoredLogos, access: LogoRights })

const wanted = s.Object({
  default: s.Optional(
    s.String({
      pattern: '^[A-Za-z0-9_./-]{1,200}$',
      description: 'Any file name: if there is no logo, the default image of this server is sent, never another file',
    }),
  ),
})

const picture = async (resolved: LogoNeeds, caller: Caller, named: Named, isDefaultWanted: boolean) => {
  const found = await seen(resolved, caller, named)
  if (found) return { status: 200 as const, body: resolved.logos.show(found) }
  if (!isDefaultWanted) throw new NotFound('logo')
  const open: Bytes['open'] = range => streamed([range ? standIn.subarray(range.start, range.end + 1) : standIn])
  return {
    status: 200 as const,
    body: { open, sizeBytes: standIn.length, contentType: 'image/svg+xml', inline: true, isTrusted: true } satisfies Bytes,
  }
}

export const getLogoPicture = pictureRoute({
  method: 'GET',
  path: '/api/logos/:id/blob',
  summary: 'Get the image of a logo',
  permission: 'anyone',
  params: s.Object({ id: s.id() }),
  query: wanted,
  responses: { 200: s.bytes<Bytes>() },
  throws: [NotFound],
  async handle({ params, query, caller }, resolved) {
    return picture(resolved, caller, params, query.default !== undefined)
  },
})

export const getLogoPictureAt = pictureRoute({
  method: 'GET',
  path: '/api/logos/:path/:name/blob',
  summary: 'Get the image of a logo by path and name',
  permission: 'anyone',
  params: s.Object({ path: s.String({ maxLength: 100 }), name: s.String({ maxLength: 100 }) }),
  query: wanted,
  responses: { 200: s.bytes<Bytes>() },
  throws: [NotFound],
  async handle({ params, query, caller }, resolved) {
    return picture(resolved, caller, params, query.default !== undefined)
  },
})
