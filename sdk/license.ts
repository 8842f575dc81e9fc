import type { License } from './model/records.ts'
import * as s from './schema.ts'

/** All rights reserved: the default license of files and datasets (Clowder 1.x, default license). */
export const ownLicense: License = { type: 'license1', url: '', text: 'All Rights Reserved', rightsHolder: '', allowDownload: false }

const creativeCommons = (variant: string): Pick<License, 'type' | 'text' | 'url'> => ({
  type: 'license2',
  text: expand(variant),
  url: `https://creativecommons.org/licenses/${variant}/4.0/`,
})

/** The licenses that clients offer. Others are accepted too. */
export const licenseChoices = (): readonly Pick<License, 'type' | 'text' | 'url'>[] => [
  { type: ownLicense.type, text: ownLicense.text, url: ownLicense.url },
  ...['by', 'by-sa', 'by-nd', 'by-nc', 'by-nc-sa', 'by-nc-nd'].map(creativeCommons),
  { type: 'license3', text: 'Public Domain Dedication', url: 'https://creativecommons.org/publicdomain/zero/1.0/' },
]

/** A license as v1 sends it. */
export const LicenseBody = s.model(
  'License',
  s.Object({
    licenseType: s.String({
      maxLength: 500,
      pattern: '^[^\\u0000-\\u001f\\u007f]*$',
      description: '`license1` limited, `license2` Creative Commons, `license3` public domain; any other text is stored unchanged',
    }),
    rightsHolder: s.prose(500),
    licenseText: s.prose(10_000),
    licenseUrl: s.prose(2000),
    allowDownload: s.Union([s.Literal('true'), s.Literal('false'), s.Literal('True'), s.Literal('False'), s.Boolean()]),
  }),
)

const parts: Readonly<Record<string, string>> = { by: 'Attribution', sa: 'ShareAlike', nd: 'NoDerivs', nc: 'NonCommercial' }
const short = /^by(-nc)?(-sa|-nd)?$/

/** Expands `by-nc-sa` to `Attribution-NonCommercial-ShareAlike`; other text is returned unchanged. */
const expand = (text: string): string =>
  short.test(text)
    ? text
        .split('-')
        .map(part => parts[part])
        .join('-')
    : text

/** The stored form of a submitted license. */
export const toLicense = (body: s.Static<typeof LicenseBody>): License => ({
  type: body.licenseType,
  url: body.licenseUrl,
  text: expand(body.licenseText),
  rightsHolder: body.rightsHolder,
  allowDownload: String(body.allowDownload).toLowerCase() === 'true',
})

/**
 * Whether the license lets everyone who may view a resource download it: any license but `license1`, as in Clowder 1.x. Unlike in Clowder 1.x, `rightsHolder`
 * is only displayed and grants nothing, because users choose their own names. Authors may always download their own files.
 */
export const allowsDownload = ({ type, allowDownload }: License): boolean => type !== 'license1' || allowDownload
