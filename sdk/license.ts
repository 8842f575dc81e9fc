import type { License } from './model/records.ts'
import * as s from './schema.ts'

/** All rights reserved: what a file or dataset has until somebody says otherwise (Clowder 1.x, default license). */
export const ownLicense: License = { type: 'license1', url: '', text: 'All Rights Reserved', rightsHolder: '', allowDownload: false }

/** A license as v1 sends it. */
export const LicenseBody = s.Object({
  licenseType: s.Union([s.Literal('license1'), s.Literal('license2'), s.Literal('license3')], {
    description: '`license1` limited, `license2` Creative Commons, `license3` public domain',
  }),
  rightsHolder: s.prose(500),
  licenseText: s.prose(10_000),
  licenseUrl: s.prose(2000),
  allowDownload: s.Union([s.Literal('true'), s.Literal('false'), s.Boolean()]),
})

const parts: Readonly<Record<string, string>> = { by: 'Attribution', sa: 'ShareAlike', nd: 'NoDerivs', nc: 'NonCommercial' }
const short = /^by(-nc)?(-sa|-nd)?$/

/** `by-nc-sa` is `Attribution-NonCommercial-ShareAlike`; other text is taken as it is. */
const expand = (text: string): string =>
  short.test(text)
    ? text
        .split('-')
        .map(part => parts[part])
        .join('-')
    : text

/** What is stored of a license that was sent. */
export const toLicense = (body: s.Static<typeof LicenseBody>): License => ({
  type: body.licenseType,
  url: body.licenseUrl,
  text: expand(body.licenseText),
  rightsHolder: body.rightsHolder,
  allowDownload: String(body.allowDownload) === 'true',
})

/**
 * True when the license itself lets a person who may look at a thing download it, whatever their rights (reference, api-data §1b):
 * it is not the limited one, says so, or names them as the holder of the rights.
 */
export const letsDownload = ({ type, allowDownload, rightsHolder }: License, fullName: string | undefined): boolean =>
  type !== 'license1' || allowDownload || (rightsHolder !== '' && rightsHolder === fullName)
