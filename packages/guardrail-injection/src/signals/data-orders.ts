import type { InjectionSignal } from './injection-signal.ts'
import { cyrillicStart, lettersOf, normalizedStems, signalsOf } from './injection-signal.ts'

/** Words of one language for handing over what an agent holds. They are stems, because endings follow. */
interface HandOver {
  readonly language: string
  readonly send: string
  /** Data of the user that an agent holds, and no page would ask a reader for. */
  readonly held: string
  /** Pattern in front of a stem. @default the start of a Latin word */
  readonly after?: string
}

const arabic = '(?<![\\u0600-\\u06ff])'

const handOvers: readonly HandOver[] = [
  {
    language: 'de',
    send: 'send|schick|leit|ubermittl|weiterleit|lad|teil|poste',
    held: '(?:gesprachs|chat|konversations)(?:verlauf|protokoll|historie)|(?:kontakt(?:e|liste)|e-?mails|nachrichten|passworter|daten|adressbuch|postfach)(?: \\w{1,8})? (?:des|der|deines|deiner) (?:be)?nutzer|adressbuch|zugangsdaten',
  },
  {
    language: 'es',
    send: 'envi|reenvi|mand|sube|comparte|publica|transmit|copia',
    held: 'historial (?:de la conversacion|del chat)|(?:correos|mensajes|contactos|datos|contrasenas|credenciales)(?: \\w{1,12})? (?:del|de la) usuari|(?:contrasenas|credenciales) guardad|lista de contactos|libreta de direcciones',
  },
  {
    language: 'fr',
    send: 'envo|transfer|transmet|partage|publie|copie|televers',
    held: "historique (?:de la conversation|du chat|de la discussion)|(?:messages|courriels|e-?mails|contacts|donnees|mots de passe|identifiants)(?: \\w{1,12})? de l'utilisat|liste des contacts|carnet d'adresses",
  },
  {
    language: 'it',
    send: 'invia|inoltra|manda|condividi|trasmett|carica|copia',
    held: "(?:cronologia|storico) (?:della conversazione|della chat)|(?:e-?mail|messaggi|contatti|dati|password|credenziali)(?: \\w{1,12})? dell'utente|elenco dei contatti|rubrica",
  },
  {
    language: 'pt',
    send: 'envi|encaminh|mand|compartilh|partilh|transmit|publique|copie',
    held: 'historico (?:da conversa|do chat)|(?:e-?mails|mensagens|contatos|contactos|dados|senhas|credenciais)(?: \\w{1,12})? do (?:usuario|utilizador)|lista de conta[ct]t?os|agenda de enderecos',
  },
  {
    language: 'nl',
    send: 'stuur|verstuur|verzend|deel|plaats|upload|kopieer|mail',
    held: '(?:chat|gespreks|gesprek)(?:geschiedenis|verslag|log)|(?:contacten|e-?mails|berichten|wachtwoorden|gegevens)(?: \\w{1,12})? van de gebruiker|contactenlijst|adresboek',
  },
  {
    language: 'pl',
    send: 'wyslij|przeslij|przekaz|udostepnij|opublikuj|skopiuj',
    held: 'histori\\w (?:rozmowy|czatu|konwersacji)|(?:hasla|maile|wiadomosci|kontakty|dane)(?: \\w{1,12})? uzytkownika|liste kontaktow|ksiazke adresowa',
  },
  {
    language: 'tr',
    send: 'gonder|ilet|paylas|yukle|kopyala|aktar',
    held: '(?:konusma|sohbet|yazisma) gecmisi|kullanicinin (?:\\w{1,12} )?(?:sifre|e-?posta|mesaj|kisi|veri)|adres defteri|kisi listesi',
  },
  {
    language: 'ru',
    send: 'отправ|перешли|пошли|передай|передайте|загрузи|скопируй|опубликуй',
    held: 'истори[юия] (?:переписки|разговора|чата|диалога)|(?:письма|сообщения|контакты|пароли|данные)(?: [\\u0400-\\u04ff]{1,12})? пользователя|список контактов|адресную книгу',
    after: cyrillicStart,
  },
  {
    language: 'uk',
    send: 'надішли|відправ|перешли|передай|завантаж|скопіюй',
    held: 'історі[юяї] (?:листування|розмови|чату)|(?:листи|повідомлення|контакти|паролі|дані)(?: [\\u0400-\\u04ff]{1,12})? користувача|список контактів|адресну книгу',
    after: cyrillicStart,
  },
  {
    language: 'ar',
    send: 'ارسل|أرسل|ارسال|حول|شارك|انشر|ارفع',
    held: 'سجل (?:المحادثة|الدردشة)|(?:رسائل|بيانات|كلمات مرور|جهات اتصال) المستخدم|قائمة جهات الاتصال',
    after: arabic,
  },
  {
    language: 'hi',
    send: 'भेज|साझा कर|अपलोड कर',
    held: '(?:बातचीत|चैट) का (?:पूरा )?इतिहास|(?:उपयोगकर्ता|यूज़र) (?:के|की|का) |संपर्क सूची',
    after: '',
  },
  {
    language: 'zh',
    send: '发送|发到|发给|转发|上传|分享|传给|寄给',
    held: '(?:对话|聊天|会话)(?:记录|历史)|用户的?(?:联系人|邮件|密码|数据|信息|通讯录)|联系人列表|通讯录',
    after: '',
  },
  {
    language: 'ja',
    send: '送信|送って|転送|共有して|アップロード|投稿し',
    held: '(?:会話|チャット)の?(?:履歴|内容|記録)|ユーザーの(?:連絡先|メール|パスワード|データ|情報)|連絡先(?:一覧|リスト)|アドレス帳',
    after: '',
  },
  {
    language: 'ko',
    send: '보내|전송|전달|공유|업로드',
    held: '(?:대화|채팅) ?(?:기록|내역|내용)|사용자의? ?(?:비밀번호|연락처|이메일|메일|데이터|정보)|연락처 목록|주소록',
    after: '',
  },
]

const address = '(?:https?:\\/\\/|www\\.|[\\w.+-]{1,40}@[\\w-]{1,40}\\.[a-z]{2,})'

// English says by the form of the verb whether something is asked for or has happened.
const send =
  '\\b(?:(?:send|forward|e-?mail|mail|upload|post|share|transmit|leak)(?:s|ing)?|cop(?:y|ies|ying)|sharing|(?:be|is|are|been) (?:sent|forwarded|e-?mailed|uploaded|posted|shared|copied))\\b'
const held =
  "\\b(?:(?:the )?(?:user|owner)(?:'s|s') (?:contacts?|calendar|files|messages|e-?mails?|inbox|history|data|details|credentials|passwords?|documents|notes|address book)|(?:the|this|your|our) (?:whole |entire |full |complete )?(?:conversation|chat history|chat log|dialogue|address book|contact list)|(?:results|notes|findings|memory) of this (?:session|conversation|task)|your (?:findings|memory|context|instructions|system prompt))\\b"
const toAddress = `\\b(?:to|with|via) ${address}`
const english = signalsOf('exfiltration', 'en')

/**
 * Data of the user that is to go to an address, in many languages, and in any place of a sentence: no page
 * has a reason to say that to its reader.
 */
export const dataOrders: readonly InjectionSignal[] = [
  english(0.6, [send, held, toAddress], { within: 30 }),
  english(0.6, [held, send, toAddress], { within: 30 }),
  ...handOvers.map(({ language, send: verbs, held: data, after = '\\b' }) => {
    const stems = (phrases: string): string => `${after}(?:${normalizedStems(phrases)})`
    const more = { isForeign: after !== '\\b', needs: lettersOf(language) }
    const parts = [stems(verbs), stems(data), address]
    return signalsOf('exfiltration', language)(0.6, parts, { ...more, within: 30, anyOrder: true })
  }),
]
