import { sdkEntries, sdkNames } from './sdk-names.ts'

const intro = `# Public names of the SDK

Written by \`npm run docs\`; do not edit it. Every name that an entry of the SDK exports, with its declaration: a change of the SDK is a change of this page.
What each name means is in its doc comment.
`

/** The page that makes each change of the SDK's public surface visible. */
export const sdkPage = async (): Promise<string> => {
  const names = Map.groupBy(await sdkNames(), ({ entry }) => entry)
  const sections = (await sdkEntries()).map(([entry, file]) => {
    const lines = (names.get(entry) ?? []).map(({ namespace, text }) => (namespace ? `${namespace}: ${text}` : text))
    return `## \`${entry}\`\n\n[${file}](../${file})\n\n\`\`\`ts\n${lines.join('\n')}\n\`\`\`\n`
  })
  return [intro, ...sections].join('\n')
}
