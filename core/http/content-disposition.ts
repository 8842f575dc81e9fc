/**
 * RFC 6266: how to save the bytes, and under which name. Names outside ASCII come twice: with `_` for old programs, and in full as
 * `filename*`. A name is no path: slashes become `_`, as recipients would have it (section 4.3).
 */
export const contentDisposition = (kind: 'inline' | 'attachment', filename: string | undefined): string => {
  if (filename === undefined || filename === '') return kind
  const name = filename.toWellFormed().replaceAll(/[\p{Cc}/\\]/gu, '_')
  const fallback = name.replaceAll(/[^\x20-\x7e]/gu, '_').replaceAll(/["%]/g, '_')
  if (fallback === name) return `${kind}; filename="${name}"`
  const encoded = encodeURIComponent(name).replaceAll(/['()*]/g, character => `%${character.charCodeAt(0).toString(16).toUpperCase()}`)
  return `${kind}; filename="${fallback}"; filename*=UTF-8''${encoded}`
}
