import type { InjectionSignal } from './injection-signal.ts'
import type { Phrases } from './foreign-overrides.ts'
import { foreignOverrides } from './foreign-overrides.ts'

const phrases: readonly Phrases[] = [
  {
    language: 'es',
    drop: 'ignor[ae]|olvid[ae]|descart[ae]|desatiend|omit[ae]|pas[ae] por alto|haz caso omiso|no (?:sigas|hagas caso|obedezcas)|no (?:tengas|tenga|prestes|preste) (?:en cuenta|atencion)|prescind[ae]|dej[ae] (?:de lado|de seguir|de obedecer)|haga caso omiso|desobedec|desestim[ae]',
    orders:
      'instruccion|indicacion|regla|orden|directriz|directrices|mandato|restriccion|programacion|entrenamiento|prompt',
    which: 'anterior|previa|tus|sus|toda|todo|dad[ao]s|inicial|recibid|de arriba|esas|estas',
    said: 'instruccion|indicacion|regla|orden|directriz|directrices|prompt|mensaje|contexto|conversacion|texto|tarea|solicitud|peticion|contenido|entrenamiento|programacion|informacion|configuracion',
    earlier: 'anterior|previ[ao]|de arriba|precedente|hasta ahora|antes|inicial|original',
    everything:
      'todo (?:lo )?(?:anterior|dicho|de antes|de arriba|que (?:te|se|he|hemos|han|dije))|lo anterior|lo que te (?:dije|dijeron|han dicho|he dicho)|todo lo que (?:has aprendido|aprendiste)',
    fresh:
      '(?:nuev|verdader|actualizad)[ao]s? (?:instruccion|tarea|orden|directriz|directrices|mision|objetivo|regla)\\w{0,3}(?: (?:es|son|sera)\\b| ?:)|(?:tu|su) nuev[ao] (?:tarea|mision|objetivo|rol|instruccion)|(?:mis|tus|sus|estas) nuev[ao]s (?:instruccion|orden|regla|directri)',
  },
  {
    language: 'fr',
    drop: "ignore|oublie|neglige|fai(?:s|tes) abstraction|ne (?:suis|suivez|tiens|tenez|respecte)|passe(?:z)? outre|contourne|n'ecoute|laissez? (?:de cote|tomber)|ecarte|met(?:s|tez) de cote|desobei|cesse[rz]? de suivre|arrete[rz]? de suivre|outrepass",
    orders:
      'instruction|consigne|regle|directive|ordre|indication|restriction|contrainte|programmation|entrainement|prompt',
    which: 'precedent|anterieur|vos|tes|tout|recu|donne|initial|ci-dessus|ces|avant',
    said: 'instruction|consigne|regle|directive|ordre|indication|prompt|message|contexte|conversation|texte|tache|demande|requete|contenu|entrainement|programmation|information|configuration',
    earlier:
      "precedent|anterieur|ci-dessus|plus haut|avant|initial|origin|jusqu'(?:a present|ici)|prealable",
    everything:
      "(?:tout )?ce qui (?:precede|a ete dit)|tout ce (?:que (?:je|on|vous avez|tu as)|qu'on|qui est (?:ecrit|dit))|tout ce que (?:tu as appris|vous avez appris)",
    fresh:
      'nouvel(?:le)?s? (?:instruction|consigne|tache|directive|ordre|mission)s?(?: (?:est|sont)\\b| ?:)|(?:ta|votre|ton) nouvel(?:le)? (?:tache|mission|instruction|objectif|role)|(?:mes|tes|vos|ces) nouvel(?:le)?s (?:instruction|regle|directive|ordre|consigne)',
  },
  {
    language: 'de',
    drop: 'ignorier|vergiss|vergess|missacht|ubergeh|uberspring|verwirf|befolge (?:nicht|keine)|beachte (?:nicht|keine)|lass|ausser acht|nicht (?:beachten|befolgen|berucksichtigen)|hor auf,? (?:deine|die)|setz(?:e|t)? dich uber|umgeh|uberschreit',
    orders:
      'anweisung|instruktion|vorgabe|regel|befehl|richtlinie|aufforderung|einschrankung|anleitung|auftrag|programmierung|training|prompt',
    which:
      'vorherig|bisherig|vorangegangen|vorig|obig|alle|deine|ihre|fruher|ursprunglich|gegeben|diese|davor|zuvor',
    said: 'anweisung|instruktion|vorgabe|regel|befehl|richtlinie|aufforderung|prompt|nachricht|kontext|gesprach|unterhaltung|text|aufgabe|anfrage|inhalt|training|programmierung|information|auftrag|eingabe',
    earlier:
      'vorherig|bisherig|vorangegangen|vorangehend|vorig|obig|oben|fruher|ursprunglich|zuvor|davor|vorher|bis jetzt',
    everything:
      'alles,? (?:was (?:ich|dir|man|oben|davor|vorher|bisher|zuvor)|bisherige|vorherige|obige|davor|zuvor|vorher|oben)|alles,? was du (?:bisher |jemals )?gelernt',
    fresh:
      '(?:neue|aktualisierte|echte|wahre)[nrs]? (?:anweisung|instruktion|aufgabe|regel|befehl|vorgabe|richtlinie|auftrag)\\w{0,3}(?: (?:ist|lautet|lauten|sind)\\b| ?:)|(?:deine|ihre|dein) neue[rs]? (?:aufgabe|anweisung|ziel|rolle|auftrag)|(?:meine|deine|ihre|diese)[nr]? neuen (?:anweisung|regel|befehl|instruktion|richtlinie)',
  },
  {
    language: 'it',
    drop: 'ignor[aio]|dimentica|trascura|tralascia|scorda|non seguire|disattendi|non (?:considerare|tenere conto|tener conto|dare ascolto|badare)|lascia (?:perdere|stare)|metti da parte|smetti di seguire|aggira|disobbedisci',
    orders:
      'istruzion|indicazion|regol|comand|direttiv|ordin|restrizion|programmazione|addestramento|prompt',
    which: 'precedent|anterior|tue|tuoi|tutt|sopra|ricevut|dat[ei]|inizial|queste|vostr',
    said: 'istruzion|indicazion|regol|comand|direttiv|ordin|prompt|messaggi|contesto|conversazion|testo|compit|richiest|contenut|addestramento|programmazione|informazion|configurazion',
    earlier: 'precedent|anterior|sopra|prima|inizial|original|finora',
    everything:
      'tutto (?:cio che|quello che|quanto) (?:ti|e stato|ho|hai (?:letto|ricevuto)|precede|si trova|viene)|tutto quanto (?:sopra|detto)|quanto (?:detto )?sopra|cio che precede|tutto (?:cio |quello )?che hai imparato',
    fresh:
      'nuov[aeio] (?:istruzion|compit|ordin|direttiv|regol|mission|obiettiv)\\w{0,2}(?: (?:e|sono)\\b| ?:)|(?:il tuo|la tua|i tuoi|le tue) nuov[aeio] (?:compit|ruol|istruzion|mission|obiettiv)|(?:mie|tue|queste) nuove (?:istruzion|regol|direttiv)|(?:miei|tuoi) nuovi ordini',
  },
  {
    language: 'pt',
    drop: 'ignor[ae]|esquec|esqueca|desconsider|desprez|nao (?:siga|sigas|obedeca)|nao (?:leve|considere|de atencao|preste|de ouvidos)|deixe de (?:seguir|lado)|deixa de lado|descart|pare de seguir|desobede|contorn',
    orders:
      'instruc|instruco|regra|orientaco|comando|diretriz|ordem|ordens|indicaco|restrico|programac|treinamento|prompt',
    which: 'anterior|previa|suas|tuas|seus|toda|todo|acima|dada|recebid|inicia|essas|estas',
    said: 'instruc|regra|orientac|comando|diretriz|ordem|ordens|prompt|mensage|contexto|conversa|texto|tarefa|solicitac|pedido|conteudo|treinamento|programac|informac|configurac',
    earlier: 'anterior|previ[ao]|acima|precedente|antes|inicia|origina|ate agora',
    everything:
      'tudo (?:o )?que (?:eu|foi|lhe|te|veio|esta|disse|voce (?:leu|recebeu|ouviu))|tudo (?:acima|antes)|o que foi dito|tudo (?:o )?que (?:voce )?(?:foi ensinad|aprendeu|lhe foi)',
    fresh:
      'nov[ao]s? (?:instruc|tarefa|ordem|ordens|diretriz|regra|missao|objetivo)\\w{0,5}(?: (?:e|sera|sao)\\b| ?:)|(?:sua|seu|tua|teu) nov[ao] (?:tarefa|missao|instruc|papel|funcao|objetivo)|(?:minhas|suas|tuas|estas) novas (?:instruc|regra|diretriz|ordens)',
  },
  {
    language: 'nl',
    drop: 'negeer|vergeet|sla over|let niet op|volg niet|trek je niets aan van|houd? geen rekening|luister niet|omzeil|stop met (?:het )?(?:op)?volgen',
    orders: 'instructie|opdracht|regel|aanwijzing|richtlijn|bevel|programmering|training|prompt',
    which: 'vorige|eerdere|bovenstaande|voorgaande|alle|jouw|je |uw|deze',
    said: 'instructie|opdracht|regel|aanwijzing|richtlijn|bevel|prompt|bericht|context|gesprek|tekst|taak|taken|verzoek|inhoud|training|programmering|informatie',
    earlier: 'vorig|eerder|bovenstaand|voorgaand|oorspronkelijk|hierboven|daarvoor|tot nu toe',
    everything:
      'alles (?:wat (?:ik|je (?:is|hebt|werd)|hierboven|eerder|hiervoor)|hierboven|hiervoor|daarvoor|van eerder)|alles wat je hebt geleerd',
    fresh:
      'nieuwe (?:instructie|opdracht|taak|regels|richtlijn)\\w{0,3}(?: (?:is|zijn|luidt)\\b| ?:)|(?:je|jouw|uw) nieuwe (?:taak|opdracht|rol|instructie|doel)|(?:mijn|jouw|je|uw|deze) nieuwe (?:instructie|regel|opdracht|richtlijn)',
  },
  {
    language: 'sv',
    drop: 'ignorera|glom|bortse fran|folj inte|strunta i|bry dig inte om|lyssna inte|hoppa over|asidosatt|sluta folja|kringga|overse',
    orders: 'instruktion|regler|anvisning|direktiv|order|programmering|traning|prompt',
    which: 'tidigare|foregaende|alla|dina|ovan|de har',
    said: 'instruktion|regler|anvisning|direktiv|order|prompt|meddeland|sammanhang|kontext|konversation|text|uppgift|begaran|innehall|fragor|traning|programmering|information',
    earlier: 'tidigare|foregaende|ovan|ursprunglig|forra|innan|hittills',
    everything:
      'allt (?:som (?:jag|du har fatt|star|sagts|har sagts)|ovan|tidigare|innan)|allt (?:som )?du (?:har )?lart',
    fresh:
      'ny(?:a|tt)? (?:instruktion|uppgift|order|regler|direktiv)\\w{0,3}(?: ar\\b| ?:)|(?:din|dina) nya (?:uppgift|instruktion|roll|order|mal)|(?:mina|dina|dessa) nya (?:instruktion|regler|order)',
  },
  {
    language: 'pl',
    drop: 'zignoruj|ignoruj|zapomnij|pomin|odrzuc|nie przestrzegaj|nie (?:zwracaj uwagi|stosuj|sluchaj|bierz pod uwage)|porzuc|obejdz|lekcewaz|przestan (?:przestrzegac|stosowac|sluchac)',
    orders: 'instrukcj|polecen|zasad|regul|wytyczn|rozkaz|nakaz|prompt|trening|programowani',
    which: 'poprzedni|wczesniejsz|powyzsz|wszystki|swoi|twoj|dotychczasow',
    said: 'instrukcj|polecen|zasad|regul|wytyczn|rozkaz|nakaz|prompt|wiadomosc|kontekst|rozmow|tekst|zadan|prosb|tresc|trening|szkolen|informacj',
    earlier: 'poprzedni|wczesniej|powyzsz|dotychczas|pierwotn|poczatkow|wyzej|przedtem',
    everything:
      'wszystk(?:o|im),? (?:co (?:ci|powiedzial|napisal|bylo|zostalo|powyzej|wczesniej|dotad|znajduje)|powyzej|powyzsze|wczesniej)|wszystk(?:o|im),? (?:co|czego) (?:sie )?(?:nauczyl|wiesz od)',
    fresh:
      'now[aey] (?:instrukcj|zadani|polecen|zasad|rozkaz|wytyczn)\\w{0,3}(?: (?:to|brzmi|jest)\\b| ?:)|(?:twoje|twoja|twoim) now[aey]\\w{0,2} (?:zadani|rol|cel|instrukcj)|(?:moi|swoi|twoi|tymi|z) ?\\w{0,3} ?nowy(?:ch|mi) (?:instrukcj|zasad|polecen)',
  },
  {
    language: 'tr',
    drop: 'gormezden gel|yok say|unut|dikkate alma|goz ard[iı] et|ihmal et|onemseme|yoksay|kulak asma|ald[iı]rma|uyma\\b|dinleme\\b|bir kenara b[iı]rak|takip etme|riayet etme',
    orders:
      'talimat|yonerge|kural|komut|yonlendirme|emir|emr|soylenen|programlama|egitim|prompt|istem',
    which: 'onceki|tum|butun|yukar[iı]|senin|size|sana|[iı]n[iı]z|her|verilen|lar[iı]|leri',
    said: 'talimat|yonerge|kural|komut|yonlendirme|emir|emr|soylen|prompt|istem|mesaj|baglam|konusma|metin|metn|gorev|istek|istegi|icerik|icerig|egitim|bilgi',
    earlier: 'onceki|yukar[iı]da|daha once|ilk|orijinal|simdiye kadar|bundan once',
    everything:
      'yukar[iı]daki(?:lerin|leri| her sey)|(?:soylenen|soyledig|verilen|anlat[iı]lan|yazan)\\w{0,5} (?:her sey|hersey|tum)|ogrendig\\w{1,4} (?:her sey|hersey|tum)|ogretilen',
    fresh:
      'yeni (?:talimat|gorev|kural|komut|emir|yonerge)\\w{0,6} ?(?::|sudur\\b|sunlard[iı]r\\b)|yeni (?:gorevin|rolun|talimatin|talimatın|amac[iı]n)|(?:benim|bu|senin) yeni (?:talimat|kural|emir|komut)',
  },
  {
    language: 'vi',
    drop: 'bo qua|phot lo|quen|lo đi|mac ke|đung (?:tuan|lam) theo|khong (?:can )?(?:tuan theo|lam theo|quan tam|đe y)|gat bo|ngung (?:tuan|lam) theo',
    orders: 'huong dan|chi dan|lenh|quy tac|chi thi|yeu cau|quy đinh|lap trinh|huan luyen|prompt',
    which: 'truoc|tren|tat ca|moi|cua ban|đa (?:cho|đuoc)|cu|đo|nhung',
    said: 'huong dan|chi dan|lenh|quy tac|chi thi|yeu cau|quy đinh|prompt|tin nhan|ngu canh|boi canh|cuoc tro chuyen|hoi thoai|van ban|nhiem vu|noi dung|thong tin|loi nhac',
    earlier: 'truoc|ben tren|o tren|phia tren|ban đau|tu truoc',
    everything:
      '(?:tat ca|moi thu|moi đieu|nhung gi) (?:nhung gi |đieu )?(?:toi (?:đa )?(?:noi|bao)|(?:ban )?đa (?:đuoc )?(?:noi|bao|yeu cau)|o tren|phia tren|ben tren|truoc)|(?:tat ca|moi thu|moi đieu|nhung gi) (?:nhung gi |đieu )?(?:ma )?ban đa (?:đuoc )?(?:day|hoc)',
    fresh:
      '(?:huong dan|nhiem vu|lenh|quy tac|chi dan) moi(?: cua ban)?(?: la\\b| ?:)|(?:huong dan|quy tac|lenh|chi dan) moi (?:nay|cua toi|sau)',
  },
  {
    language: 'id',
    drop: 'abaikan|lupakan|hiraukan|acuhkan|kesampingkan|jangan (?:ikuti|patuhi)|jangan (?:hiraukan|pedulikan|perhatikan|turuti|dengarkan)|langgar|berhenti mengikuti|mengabaikan',
    orders:
      'instruksi|perintah|petunjuk|aturan|arahan|peraturan|yang telah|pemrograman|pelatihan|prompt',
    which: 'sebelum|terdahulu|di atas|semua|segala|anda|kamu|mu\\b|awal|telah',
    said: 'instruksi|perintah|petunjuk|aturan|arahan|peraturan|prompt|pesan|konteks|percakapan|teks|tugas|permintaan|konten|pelatihan|informasi',
    earlier: 'sebelum|terdahulu|di ?atas|tadi|awal|asli|sejauh ini',
    everything:
      '(?:semua|segala|segalanya|apa pun|apapun|semuanya) (?:yang |hal yang |sesuatu yang )?(?:telah|sudah|pernah|saya|di ?atas|dikatakan|diberikan|sebelum)|(?:semua|segala|segalanya) (?:yang )?(?:telah |sudah )?(?:di)?(?:ajarkan|pelajari)',
    fresh:
      '(?:instruksi|tugas|perintah|aturan|peran)(?:mu| anda)? (?:yang )?baru ?(?::|adalah|ialah)|(?:tugas|peran|instruksi) baru(?:mu| anda| kamu)|(?:instruksi|aturan|perintah) baru (?:saya|ini|dariku|berikut)',
  },
  {
    language: 'tl',
    drop: 'huwag (?:mo |mong |ninyong |nang )?pansinin|balewalain|kalimutan|ipagwalang|isantabi|(?:hu)?wag (?:mo |mong |ninyong |nang )?(?:sundin|intindihin|isipin|pakinggan|pansinin)|iwaksi|hindi (?:mo )?kailangang sundin|itigil ang pagsunod|kaligtaan|i-?ignore',
    orders:
      'tagubilin|utos|instruksyon|instruction|panuntunan|tuntunin|patakaran|sinabi|programming|pagsasanay|prompt',
    which: 'nakara|nauna|lahat|iyong|mong|mo\\b|dati|dating|mga|itaas|sayo',
    said: 'tagubilin|utos|instruksyon|instruction|panuntunan|tuntunin|patakaran|sinabi|prompt|mensahe|konteksto|usapan|teksto|gawain|kahilingan|nilalaman|impormasyon|direksyon|alituntunin',
    earlier: 'nakara|nauna|dati|dating|itaas|kanina|orihinal|bago ito',
    everything:
      'lahat (?:ng )?(?:sinabi|nasa itaas|naunang|nakaraang)|lahat (?:ng )?(?:natutunan|itinuro)',
    fresh:
      'bagong (?:\\w{3,5} )?(?:tagubilin|utos|gawain|panuntunan|instruction|instruksyon)(?: ?:| ay\\b)|iyong bagong (?:gawain|tungkulin|utos|tagubilin)|(?:aking|iyong|mga) bagong (?:mga )?(?:tagubilin|utos|panuntunan)',
  },
]

/** Attempts to replace the instructions of the model, in the languages with Latin letters, but English. */
export const latinOverrides: readonly InjectionSignal[] = foreignOverrides(phrases)
