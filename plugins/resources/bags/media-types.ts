/** The media type that a name suggests. Loaded when it is first needed: it knows thousands of them. */
export const typeOf = async (name: string): Promise<string> => {
  const { lookup } = await import('mime-types')
  return lookup(name) || 'application/octet-stream'
}
