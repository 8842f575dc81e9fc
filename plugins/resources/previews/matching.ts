import {
  type Caller,
  type Contributions,
  demand,
  Files,
  NotFound,
  Policy,
  type Previewer,
  Previewers,
  port,
  type Ref,
  s,
  wire,
} from 'pounce/sdk'
import { PreviewDesk, type StoredPreviews } from './stored-previews.ts'

/** What to show and what shows it (reference, api-data §5c). `pv_*` is the preview or the file itself, `p_*` the previewer. */
export const PreviewMatch = s.Object({
  file_id: s.String(),
  previews: s.Array(
    s.Object({
      pv_id: s.String(),
      p_id: s.String(),
      p_path: s.String(),
      p_main: s.String(),
      pv_route: s.String(),
      pv_contenttype: s.String(),
      pv_length: s.String(),
    }),
  ),
})
type Match = s.Static<typeof PreviewMatch>

const fits = (pattern: string, mediaType: string): boolean => {
  const [type, subtype] = pattern.split('/')
  const [ownType, ownSubtype] = mediaType.split('/')
  return (type === '*' || type === ownType) && (subtype === '*' || subtype === ownSubtype)
}

/** Finds who can show what. */
export class PreviewMatching {
  #files: Files
  #previews: StoredPreviews
  #previewers: Contributions<Previewer>
  #policy: Policy

  constructor(files: Files, previews: StoredPreviews, previewers: Contributions<Previewer>, policy: Policy) {
    this.#files = files
    this.#previews = previews
    this.#previewers = previewers
    this.#policy = policy
  }

  async ofFile(id: string, caller: Caller): Promise<Match[]> {
    const file = await this.#files.get(id)
    if (!file) throw new NotFound('file')
    if (file.showPreviews === 'None') return []
    const all = this.#previewers.all()
    const shown = (await this.#previews.of({ kind: 'file', id })).flatMap(preview =>
      all
        .filter(previewer => previewer.mediaTypes.some(type => fits(type, preview.contentType)))
        .slice(0, 1)
        .map(previewer => ({
          ...by(previewer),
          pv_id: preview.id,
          pv_route: `/api/previews/${preview.id}`,
          pv_contenttype: preview.contentType,
          pv_length: String(preview.sizeBytes),
        })),
    )
    if (shown.length > 0) return [{ file_id: id, previews: shown }]
    const mayDownload = (await this.#policy.canOn(caller, 'DownloadFiles', { kind: 'file', id })) === 'yes'
    const itself = all.filter(previewer => previewer.showsFiles && previewer.mediaTypes.some(type => fits(type, file.contentType)))
    return [
      {
        file_id: id,
        previews: itself.map(previewer => ({
          ...by(previewer),
          pv_id: id,
          pv_route: mayDownload ? `/files/${id}/blob` : 'null',
          pv_contenttype: file.contentType,
          pv_length: String(file.sizeBytes),
        })),
      },
    ]
  }

  /** Whoever attaches a preview must have the right to add to what it shows. */
  async mayAttach(caller: Caller, target: Ref): Promise<void> {
    await demand(this.#policy, caller, 'AddFile', target)
  }
}
wire(PreviewMatching, Files, PreviewDesk, Previewers, Policy)

const by = ({ id, path, main }: Previewer) => ({ p_id: id, p_path: path, p_main: main })

export const Matching = port<PreviewMatching>('previews.matching')
