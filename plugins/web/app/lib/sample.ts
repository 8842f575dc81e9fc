import { api, urlOf } from './api.ts'
import { t } from './i18n.ts'

/** Files that the server ships for a first look, with the type they are uploaded as. */
const files = [
  { name: 'README.md', type: 'text/markdown' },
  { name: 'stations.csv', type: 'text/csv' },
  { name: 'hill.jpg', type: 'image/jpeg' },
  { name: 'leaf-area.pdf', type: 'application/pdf' },
] as const

/** What its README says of it: CC0. */
const license = {
  ...{ licenseType: 'license3', licenseText: 'Public Domain Dedication', licenseUrl: 'https://creativecommons.org/publicdomain/zero/1.0/' },
  ...{ rightsHolder: '', allowDownload: true },
}

/** Makes a dataset with the files that the server ships, by the calls that anybody's dataset is made with. Its id. */
export const makeSampleDataset = async (onProgress: (done: number, total: number) => void): Promise<string> => {
  const { id } = await api('POST /api/datasets/createempty', { body: { name: t('sample.name'), description: t('sample.description') } })
  await api('POST /api/datasets/{id}/tags', { path: { id }, body: { tags: ['example', 'river', 'soil'] } })
  await api('POST /api/datasets/{id}/license', { path: { id }, body: license })
  for (const [at, { name, type }] of files.entries()) {
    onProgress(at, files.length)
    const answer = await fetch(urlOf(`/web/sample/${name}`))
    const form = new FormData()
    form.append('File', new File([await answer.blob()], name, { type }))
    const file = await api('POST /api/uploadToDataset/{id}', { path: { id }, body: form })
    if ('id' in file) await api('POST /api/files/{id}/license', { path: { id: file.id }, body: license })
  }
  onProgress(files.length, files.length)
  return id
}
