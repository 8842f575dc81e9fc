import { definePlugin, Extractors, provide } from 'pounce/sdk'
import { CsvExtractor } from './csv-extractor.ts'

export const plugin = definePlugin({
  id: 'extractors.csv',
  summary: 'Columns, types, ranges, row count and first rows of CSV and TSV tables.',
  isSwitchable: true,
  provides: [provide(Extractors, CsvExtractor)],
})
