import {
  afterParameter,
  configPort,
  Forbidden,
  Installation,
  Invalid,
  linkToNext,
  multipart,
  NotFound,
  pageOf,
  readAfter,
  readNamedAfter,
  routesFor,
  type Stored,
  s,
  signedIn,
  TooLarge,
} from 'pounce/sdk'
import type { Logo } from './collection.ts'
import { config } from './config.ts'
import { changeable, existing } from './found-logo.ts'
import { LogoRights } from './logo-rights.ts'
import { readLogo } from './sent-logo.ts'
import { StoredLogos } from './stored-logos.ts'

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
const gone = { status: 204, body: undefined } as const

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
    // Logos of one path come by name, others by date.
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
  body: multipart('Text fields `path` and `name`, optionally `showText`, and the file part `image`', 20),
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
    return gone
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
    return gone
  },
})
