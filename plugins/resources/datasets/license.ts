import { type License, s } from 'pounce/sdk'

/** All rights reserved: what a dataset has until somebody says otherwise (Clowder 1.x, default license). */
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

export const toLicense = (body: s.Static<typeof LicenseBody>): License => ({
  type: body.licenseType,
  url: body.licenseUrl,
  text: expand(body.licenseText),
  rightsHolder: body.rightsHolder,
  allowDownload: String(body.allowDownload) === 'true',
})
