/** The kinds of objects that the API has. */
export type KindName = 'Organization' | 'User' | 'KeyPair' | 'EmailTemplate' | 'Client';
