/** An `extractor_info.json` as extractors send it. */
export const extractorInfo = (name: string, about: Readonly<Record<string, unknown>> = {}): Record<string, unknown> => ({
  name,
  version: '1.0',
  description: 'Counts leaves',
  author: 'A. Author',
  contexts: [],
  repository: [{ repType: 'git', repUrl: 'https://example.org/leaves' }],
  ...about,
})
