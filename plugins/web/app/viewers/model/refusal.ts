/** Why a model is not loaded, in a sentence for the person. */
export class Refusal extends Error {}
