/** Text without regard to case and accents, for comparing what people type. */
export const foldedText = (text: string): string => text.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase()
