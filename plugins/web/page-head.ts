import { type Caller, Collections, Datasets, Files, Installation, type License, Policy, type Ref, Spaces, Users, wire } from 'pounce/sdk'
import { fullNameOf } from 'pounce/sdk/kit'

/** Metadata of a resource in the head of its page, for search engines, link previews and Signposting clients. */
export interface PageHead {
  readonly title: string
  readonly description: string
  /** schema.org JSON-LD. */
  readonly jsonLd?: Readonly<Record<string, unknown>>
  /** Signposting, level 1: targets by link relation. */
  readonly links: readonly { readonly rel: string; readonly href: string; readonly type?: string }[]
}

/** Kinds of resources that have a page. */
export type PageKind = 'space' | 'collection' | 'dataset' | 'file'

/** The path of a resource's page below the base URL, as in Clowder 1. */
const pagePath = (kind: PageKind, id: string): string =>
  `/${{ space: 'spaces', collection: 'collection', dataset: 'datasets', file: 'files' }[kind]}/${id}`

const apiPath = (kind: PageKind, id: string): string => (kind === 'file' ? `/api/files/${id}/metadata` : `/api/${kind}s/${id}`)

const viewPermission = {
  space: 'ViewSpace',
  collection: 'ViewCollection',
  dataset: 'ViewDataset',
  file: 'ViewFile',
} as const

interface PageDescription {
  readonly name: string
  readonly description: string
  readonly author: string
  readonly created: string
  readonly license?: License
  readonly modified?: string
  readonly keywords?: readonly string[]
  readonly creators?: readonly string[]
  readonly distribution?: { readonly contentType: string; readonly sizeBytes: number; readonly sha256: string }
}

/** Reads the metadata for page heads, with the permissions of the caller. */
export class PageHeads {
  #spaces: Spaces
  #collections: Collections
  #datasets: Datasets
  #files: Files
  #users: Users
  #policy: Policy
  #installation: Installation

  constructor(
    spaces: Spaces,
    collections: Collections,
    datasets: Datasets,
    files: Files,
    users: Users,
    policy: Policy,
    installation: Installation,
  ) {
    this.#spaces = spaces
    this.#collections = collections
    this.#datasets = datasets
    this.#files = files
    this.#users = users
    this.#policy = policy
    this.#installation = installation
  }

  /** The head of a resource's page; undefined if not found or not accessible. */
  async of(caller: Caller, kind: PageKind, id: string): Promise<PageHead | undefined> {
    const ref: Ref = { kind, id }
    if ((await this.#policy.canOn(caller, viewPermission[kind], ref)) !== 'yes') return undefined
    const described = await this.#describe(kind, id)
    return described && this.#head(kind, id, described)
  }

  async #describe(kind: PageKind, id: string): Promise<PageDescription | undefined> {
    switch (kind) {
      case 'space':
        return this.#spaces.get(id)
      case 'collection': {
        const found = await this.#collections.get(id)
        return found && { ...found, keywords: found.tags.map(tag => tag.name) }
      }
      case 'dataset': {
        const found = await this.#datasets.get(id)
        return found && { ...found, keywords: found.tags.map(tag => tag.name) }
      }
      case 'file': {
        const found = await this.#files.get(id)
        return found && { ...found, keywords: found.tags.map(tag => tag.name), distribution: found }
      }
    }
  }

  async #head(kind: PageKind, id: string, described: PageDescription): Promise<PageHead> {
    const { name, description, author, created, license, modified, keywords = [], creators = [], distribution } = described
    const base = this.#installation.baseUrl
    const url = `${base}${pagePath(kind, id)}`
    const person = await this.#users.get(author)
    const people = creators.length > 0 ? creators : person ? [fullNameOf(person)] : []
    const isLink = license !== undefined && /^https?:\/\//.test(license.url)
    const type = { space: 'DataCatalog', collection: 'Collection', dataset: 'Dataset', file: 'MediaObject' }[kind]
    const content = distribution && {
      '@type': 'DataDownload',
      contentUrl: `${base}/api/files/${id}`,
      encodingFormat: distribution.contentType,
      contentSize: `${distribution.sizeBytes} B`,
      sha256: distribution.sha256,
    }
    return {
      title: name,
      description: description.slice(0, 300),
      jsonLd: {
        '@context': 'https://schema.org/',
        '@type': type,
        '@id': url,
        url,
        identifier: id,
        name,
        ...(description === '' ? {} : { description }),
        dateCreated: created,
        ...(modified === undefined ? {} : { dateModified: modified }),
        ...(keywords.length === 0 ? {} : { keywords }),
        ...(people.length === 0 ? {} : { creator: people.map(each => ({ '@type': 'Person', name: each })) }),
        ...(isLink ? { license: license.url } : {}),
        ...(content ? { distribution: content } : {}),
      },
      links: [
        { rel: 'cite-as', href: url },
        { rel: 'type', href: `https://schema.org/${type}` },
        { rel: 'describedby', href: `${base}${apiPath(kind, id)}`, type: 'application/json' },
        ...(isLink ? [{ rel: 'license', href: license.url }] : []),
        ...(distribution ? [{ rel: 'item', href: `${base}/api/files/${id}`, type: distribution.contentType }] : []),
      ],
    }
  }
}
wire(PageHeads, Spaces, Collections, Datasets, Files, Users, Policy, Installation)
