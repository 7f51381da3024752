import type { Claims } from './claims.ts'
import { claimSignals } from './claims.ts'
import type { InjectionSignal } from './injection-signal.ts'

const claims: readonly Claims[] = [
  {
    language: 'es',
    mode: 'modo (?:de )?(?:desarrollador|programador|administrador|dios|depuracion|mantenimiento|root|sin (?:restriccion|limite|filtro|censura)|jailbreak|diagnostico|prueba)',
    enter: 'activ[aeo]|entra|entre|inici[ae]|habilit[ae]|cambia a|pasa a|estas en',
    master:
      '(?:soy|aqui|como) (?:tu|su|el) (?:desarrollador|creador|administrador|programador|jefe|dueno)|(?:orden|mensaje|aviso) del (?:administrador|sistema|desarrollador)',
    tell: 'muestra|muestrame|revela|dime|imprim|repite|ensena|escribe|cuales son|cual es|comparte',
    orders:
      'prompt (?:del |de )?sistema|(?:tu|sus?) prompt|(?:tus|sus) (?:instruccion|reglas|directrices|indicacion)|instruccion\\w{0,4} (?:inicial|del sistema|secret|ocult|original|intern)|prompt inicial',
    free: 'sin (?:ninguna? )?(?:restriccion|limitacion|limite|filtro|censura|etica|reglas)',
    now: '(?:ahora|a partir de (?:ahora|este momento)|desde ahora)[ ,]{1,2}(?:tu )?(?:eres|seras|actua|te llamas)|finge (?:que|ser)|actua como',
    reader:
      '(?:si eres|para) (?:una? |la |el )?(?:ia|inteligencia artificial|asistente de ia|modelo de lenguaje|chatbot)|(?:nota|mensaje|instruccion\\w{0,4}) para (?:la ia|el asistente|el modelo)',
  },
  {
    language: 'fr',
    mode: 'mode (?:de )?(?:developpeur|administrateur|dieu|debogage|debug|maintenance|root|sans (?:restriction|limite|filtre|censure)|jailbreak|diagnostic|test)',
    enter: 'activ|entre|passe|bascule|demarre|lance|tu es en|vous etes en',
    master:
      "(?:je suis|ici|en tant que) (?:ton|votre|le|l') ?(?:developpeur|createur|administrateur|programmeur|chef|proprietaire)|(?:ordre|message|avis) (?:de l'administrateur|du systeme|du developpeur)",
    tell: 'montre|revele|affiche|dis[- ]moi|dites|imprime|repete|ecris|donne|quelles? (?:sont|etaient|est)|partage',
    orders:
      'prompt (?:du )?systeme|(?:ton|votre) prompt|(?:tes|vos) (?:instruction|consigne|regle|directive)|(?:instruction|consigne)s? (?:initial|systeme|secret|cache|original|intern)|prompt initial|invite systeme',
    free: 'sans (?:aucune? )?(?:restriction|limitation|limite|filtre|censure|ethique|regle)',
    now: "(?:maintenant|desormais|a partir de maintenant|dorenavant)[ ,]{1,2}(?:tu |vous )?(?:es|etes|seras|agis|t'appelles)|fais semblant|agis comme|comporte[- ]toi comme",
    reader:
      "(?:si (?:tu es|vous etes)|pour|a l'attention de) (?:une? |l')?(?:ia|intelligence artificielle|assistant ia|modele de langage|chatbot)|(?:note|message|instruction)s? pour l'(?:ia|assistant)",
  },
  {
    language: 'de',
    mode: '(?:entwickler|administrator|admin|gott|debug|wartungs|root|test|diagnose|jailbreak)[- ]?modus|modus ohne (?:einschrankung|regel|filter|grenze)|uneingeschrankte\\w{0,4} modus',
    enter: 'aktivier|wechsle|wechsel|starte|schalte|betritt|gehe in|du bist (?:jetzt )?im',
    master:
      '(?:ich bin|hier (?:ist|spricht)|als) (?:dein|deine|ihr|der) (?:entwickler|schopfer|administrator|programmierer|chef|besitzer|betreiber)|(?:befehl|nachricht|hinweis) (?:des|vom) (?:administrator|system|entwickler)',
    tell: 'zeig|verrat|gib|nenn|sag mir|druck|wiederhol|schreib|offenbar|wie laute|was (?:sind|ist|steht)|teile mir',
    orders:
      'system[- ]?prompt|(?:deine|ihre|deinen|ihren|dein) (?:anweisung|instruktion|regel|prompt|vorgabe|richtlinie)|(?:ursprungliche|geheime|interne|versteckte|anfangliche)\\w{0,4} (?:anweisung|instruktion|prompt|vorgabe)|system(?:anweisung|nachricht|instruktion)',
    free: 'ohne (?:jede |jegliche |irgendwelche )?(?:einschrankung|beschrankung|grenze|filter|zensur|ethik|regel)',
    now: '(?:jetzt|nun|ab (?:jetzt|sofort)|von nun an)[ ,]{1,2}(?:bist|antwortest|spielst|heisst|handelst) du|du bist (?:jetzt|nun|ab sofort)|tu so,? als|verhalte dich wie',
    reader:
      '(?:wenn|falls|sofern) du eine? (?:ki|kunstliche intelligenz|sprachmodell|chatbot|assistent)|(?:hinweis|nachricht|anweisung\\w{0,4}|mitteilung) (?:fur|an) (?:die |den |das |alle )?(?:ki|sprachmodell|assistent|chatbot)',
  },
  {
    language: 'it',
    mode: 'modalita (?:di )?(?:sviluppatore|amministratore|dio|debug|manutenzione|root|senza (?:restrizion|limit|filtr|censur)|jailbreak|diagnostic|test)',
    enter: 'attiv|entra|passa|avvia|abilita|sei in',
    master:
      '(?:sono|qui|come) (?:il )?(?:tuo|vostro|suo|il) (?:sviluppatore|creatore|amministratore|programmatore|capo|proprietario)|(?:ordine|messaggio|avviso) (?:dell.amministratore|del sistema|dello sviluppatore)',
    tell: 'mostra|rivela|dimmi|stampa|ripeti|scrivi|elenca|quali (?:sono|erano)|qual e|condividi',
    orders:
      'prompt (?:di |del )?sistema|(?:il )?tuo prompt|(?:tue|vostre) (?:istruzion|regol|direttiv)|istruzion\\w{0,4} (?:inizial|di sistema|segret|nascost|original|intern)|prompt iniziale',
    free: 'senza (?:alcuna? |nessuna? )?(?:restrizion|limitazion|limit|filtr|censur|etica|regol)',
    now: "(?:ora|adesso|da ora in poi|d'ora in poi|da adesso)[ ,]{1,2}(?:tu )?(?:sei|sarai|agisci|ti chiami)|fai finta|fingi di|comportati come|agisci come",
    reader:
      '(?:se sei|per) (?:un.|l.|un|una )?(?:ia|intelligenza artificiale|assistente ia|modello linguistico|chatbot)|(?:nota|messaggio|istruzion\\w{0,4}) per (?:l.ia|l.assistente|il modello)',
  },
  {
    language: 'pt',
    mode: 'modo (?:de )?(?:desenvolvedor|programador|administrador|deus|depuracao|manutencao|root|sem (?:restric|limite|filtro|censura)|jailbreak|diagnostico|teste)',
    enter: 'ativ[ae]|entre|entra|inici[ae]|habilit[ae]|mude para|passe para|esta em',
    master:
      '(?:sou|aqui e|como) (?:o )?(?:seu|teu|o) (?:desenvolvedor|criador|administrador|programador|chefe|dono)|(?:ordem|mensagem|aviso) do (?:administrador|sistema|desenvolvedor)',
    tell: 'mostr|revel|diga|imprim|repit|escrev|quais sao|qual e|compartilh|exib',
    orders:
      'prompt (?:do |de )?sistema|(?:seu|teu) prompt|(?:suas|tuas) (?:instruc|regra|diretriz)|instruc\\w{0,4} (?:inicia|do sistema|secret|ocult|origina|intern)|prompt inicial',
    free: 'sem (?:nenhuma? |qualquer )?(?:restric|limitac|limite|filtro|censura|etica|regra)',
    now: '(?:agora|a partir de agora|de agora em diante)[ ,]{1,2}(?:voce |tu )?(?:e|es|sera|aja|se chama)\\b|finja (?:que|ser)|aja como|comporte-se como',
    reader:
      '(?:se voce (?:e|for)|para) (?:uma? |a |o )?(?:ia|inteligencia artificial|assistente de ia|modelo de linguagem|chatbot)|(?:nota|mensagem|instruc\\w{0,4}) para (?:a ia|o assistente|o modelo)',
  },
  {
    language: 'nl',
    mode: '(?:ontwikkelaars?|beheerders?|admin|god|debug|onderhouds|root|test|jailbreak)[- ]?modus|modus zonder (?:beperking|regels|filter|limiet)',
    enter: 'activeer|schakel|start|ga naar|ga in|je bent (?:nu )?in',
    master:
      '(?:ik ben|hier is|als) (?:je|jouw|uw|de) (?:ontwikkelaar|maker|beheerder|programmeur|baas|eigenaar)|(?:bevel|bericht|melding) van de (?:beheerder|systeem|ontwikkelaar)',
    tell: 'toon|onthul|geef|vertel|print|herhaal|schrijf|laat|wat (?:zijn|is)|deel',
    orders:
      'systeem ?prompt|(?:je|jouw|uw) (?:instructie|regels|prompt|richtlijn)|(?:oorspronkelijke|geheime|interne|verborgen|eerste) (?:instructie|prompt|opdracht)|systeem(?:instructie|bericht)',
    free: 'zonder (?:enige )?(?:beperking|limiet|filter|censuur|ethiek|regels)',
    now: '(?:nu|vanaf nu|voortaan)[ ,]{1,2}ben je|je bent (?:nu|vanaf nu)|doe alsof|gedraag je als',
    reader:
      'als (?:je|u) een (?:ai|kunstmatige intelligentie|taalmodel|chatbot)|(?:opmerking|bericht|instructies?) voor (?:de |het )?(?:ai|taalmodel|assistent|chatbot)',
  },
  {
    language: 'sv',
    mode: '(?:utvecklar|administrator|admin|gud|debug|underhalls|root|test|jailbreak)[- ]?lage|lage utan (?:begransning|regler|filter)',
    enter: 'aktivera|byt till|vaxla|starta|ga (?:in )?i|du ar (?:nu )?i',
    master:
      '(?:jag ar|har ar|som) (?:din|er|den) (?:utvecklare|skapare|administrator|programmerare|chef|agare)|(?:order|meddelande) fran (?:administrator|systemet|utvecklar)',
    tell: 'visa|avsloja|ge mig|beratta|skriv ut|upprepa|skriv|vad (?:ar|var)|dela',
    orders:
      'system ?prompt|(?:din|dina) (?:instruktion|regler|prompt|riktlinj)|(?:ursprungliga|hemliga|interna|dolda) (?:instruktion|prompt)|systeminstruktion',
    free: 'utan (?:nagra |alla )?(?:begransning|restriktion|filter|censur|etik|regler)',
    now: '(?:nu|fran och med nu|hadanefter)[ ,]{1,2}ar du|du ar (?:nu|fran och med nu)|lats(?:as)? (?:som|att)|agera som',
    reader:
      'om du ar en (?:ai|artificiell intelligens|sprakmodell|chattbot)|(?:meddelande|instruktion\\w{0,4}) (?:till|for) (?:ai|sprakmodell|assistent)',
  },
  {
    language: 'pl',
    mode: 'tryb\\w{0,4} (?:deweloper|programist|administrator|boga|debugowania|serwisow|root|bez (?:ograniczen|filtr|zasad)|jailbreak|testow|diagnosty)',
    enter: 'wlacz|aktywuj|przejdz|przelacz|uruchom|wejdz|jestes (?:teraz )?w',
    master:
      '(?:jestem|tu|jako) (?:twoim|twoj|waszym) (?:programist|tworc|administrator|deweloper|szef|wlasciciel)|(?:rozkaz|wiadomosc|komunikat) od (?:administrator|system|deweloper)',
    tell: 'pokaz|ujawnij|podaj|powiedz|wydrukuj|powtorz|napisz|wypisz|jakie (?:sa|byly)|udostepnij',
    orders:
      'prompt systemow|systemow\\w{0,4} prompt|(?:twoj|swoj)\\w{0,4} (?:instrukcj|prompt|zasad|wytyczn)|(?:poczatkow|tajn|ukryt|pierwotn)\\w{0,4} (?:instrukcj|prompt|polecen)|instrukcj\\w{0,4} systemow',
    free: 'bez (?:zadnych |jakichkolwiek )?(?:ograniczen|limit|filtr|cenzur|etyk|zasad)',
    now: '(?:teraz|od teraz|od tej pory)[ ,]{1,2}jestes|jestes teraz|udawaj|zachowuj sie jak',
    reader:
      'jesli jestes (?:ai|si|sztuczn|modelem|chatbot)|(?:uwaga|wiadomosc|instrukcj\\w{0,4}) dla (?:ai|asystent|model)',
  },
  {
    language: 'tr',
    mode: '(?:gelistirici|yonetici|tanri|tanrı|hata ayiklama|hata ayıklama|bakim|bakım|root|test|jailbreak|sinirsiz|sınırsız) mod',
    enter: 'etkinlestir|gec|baslat|ac\\b|gir\\b|aktif|artik',
    master:
      'ben (?:senin|sizin) (?:gelistirici|yaratici|yaratıcı|yonetici|programci|programcı|patron|sahib)|(?:yonetici|sistem|gelistirici) (?:emri|mesaji|mesajı|uyarisi)',
    tell: 'goster|acikla|açıkla|acıkla|soyle|yazdir|yazdır|tekrarla|yaz\\b|nedir|nelerdir|paylas|listele|ver\\b',
    orders:
      'sistem (?:prompt|istem|talimat|mesaj|komut)|(?:senin )?(?:talimat|prompt|kural)lar[iı]n|(?:gizli|ilk|baslangic|baslangıc|orijinal) (?:talimat|prompt|komut|yonerge)',
    free: '(?:hicbir )?(?:sinir|sınır|kisitlama|kısıtlama|filtre|sansur|kural|etik) (?:olmadan|olmaksizin|olmaksızın|tanimadan)|(?:sinir|sınır|kural|filtre|sansur)s[iıuü]z',
    now: '(?:simdi|artik|artık|bundan sonra|su andan itibaren)[ ,]{1,2}sen|(?:gibi davran|rol yap|miş gibi yap|mis gibi yap)',
    reader:
      '(?:eger )?(?:bir )?(?:yapay zeka|dil modeli|sohbet botu)(?:ysan|ysaniz|iseniz|isen)|yapay zeka (?:icin|asistanina|modeline) (?:not|mesaj|talimat)',
  },
  {
    language: 'vi',
    mode: 'che đo (?:nha phat trien|quan tri|go loi|bao tri|khong gioi han|than thanh|root|kiem tra|admin|jailbreak)',
    enter: 'kich hoat|bat|chuyen sang|vao|khoi dong|đang o',
    master:
      'toi la (?:nha phat trien|nguoi tao|quan tri vien|lap trinh vien|chu)(?: ra)? |(?:lenh|tin nhan|thong bao) (?:tu|cua) (?:quan tri|he thong|nha phat trien)',
    tell: 'hien thi|cho (?:toi )?(?:biet|xem)|tiet lo|in ra|lap lai|nhac lai|viet|liet ke|la gi|chia se|noi',
    orders:
      'prompt he thong|(?:huong dan|chi dan|loi nhac|lenh|chi thi) (?:he thong|ban dau|bi mat|an|goc|noi bo|cua ban)|prompt (?:cua ban|ban dau)|quy tac cua ban',
    free: 'khong (?:co |bi )?(?:bat ky )?(?:gioi han|han che|kiem duyet|bo loc|đao đuc|quy tac)',
    now: '(?:bay gio|tu bay gio|tu gio tro đi|ke tu bay gio)[ ,]{1,2}ban|ban (?:bay gio )?la mot (?:ai|tro ly)|gia vo|hay đong vai|đong vai',
    reader:
      'neu ban la (?:mot )?(?:ai|tri tue nhan tao|mo hinh|chatbot)|(?:ghi chu|tin nhan|huong dan) (?:cho|danh cho) (?:ai|tro ly|mo hinh)',
  },
  {
    language: 'id',
    mode: 'mode (?:pengembang|admin|administrator|dewa|debug|pemeliharaan|root|tanpa (?:batas|filter|sensor)|uji|jailbreak)',
    enter: 'aktifkan|masuk|beralih|mulai|nyalakan|ubah ke',
    master:
      '(?:saya|aku|ini) (?:adalah )?(?:pengembang|pencipta|administrator|pembuat|bos|pemilik)(?:mu| anda| kamu)|(?:perintah|pesan) dari (?:administrator|admin|sistem|pengembang)',
    tell: 'tampilkan|ungkapkan|beri ?tahu|berikan|cetak|ulangi|tulis|tunjukkan|apa (?:saja )?(?:isi )?|sebutkan|bagikan',
    orders:
      'prompt sistem|(?:instruksi|perintah|petunjuk|aturan) (?:sistem|awal|rahasia|tersembunyi|asli|internal|anda|kamu)|prompt (?:anda|kamu|awal)|instruksimu',
    free: 'tanpa (?:ada )?(?:batas|pembatas|filter|sensor|etika|aturan)',
    now: '(?:sekarang|mulai sekarang|mulai saat ini)[ ,]{1,2}(?:anda|kamu|kau)|berpura-pura|bertindak(?:lah)? sebagai|berperan(?:lah)? sebagai',
    reader:
      'jika (?:anda|kamu) (?:adalah )?(?:sebuah )?(?:ai|kecerdasan buatan|model bahasa|chatbot)|(?:catatan|pesan|instruksi) untuk (?:ai|asisten|model)',
  },
  {
    language: 'tl',
    mode: '(?:developer|admin|debug|maintenance|root|god|jailbreak) mode|mode ng (?:developer|admin)',
    enter: 'i-?activate|pumasok|lumipat|simulan|paganahin|buksan',
    master:
      'ako (?:ang|si) (?:iyong )?(?:developer|tagalikha|administrator|programmer|boss|may-ari)|(?:utos|mensahe) (?:ng|mula sa) (?:administrator|sistema|developer)',
    tell: 'ipakita|ibunyag|sabihin|i-?print|ulitin|isulat|ilista|ano ang|ibahagi|ibigay',
    orders:
      'system prompt|(?:iyong|mong|mo) (?:mga )?(?:tagubilin|panuntunan|instruction|prompt)|(?:lihim|nakatago|orihinal|paunang) na (?:mga )?(?:tagubilin|prompt|utos)',
    free: 'walang (?:anumang )?(?:limitasyon|paghihigpit|filter|censorship|etika|patakaran|mga patakaran)',
    now: '(?:ngayon|mula ngayon|simula ngayon)[ ,]{1,2}(?:ay )?ikaw|ikaw ay ngayon|magpanggap|kumilos (?:ka )?bilang',
    reader:
      'kung ikaw ay (?:isang )?(?:ai|artificial intelligence|language model|chatbot)|(?:tala|mensahe|tagubilin) para sa (?:ai|assistant|model)',
  },
]

/** Claims in the languages with Latin letters, but English. */
export const latinClaims: readonly InjectionSignal[] = claimSignals(claims)
