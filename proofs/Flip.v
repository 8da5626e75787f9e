(* Permute-and-flip: visit the candidates in random order, stop at r with probability w r. Its law in closed form, as
   the code draws it (all coins at once, then one of the heads), and as a noisy maximum. *)

From Coq Require Import Reals Lra Lia List.
From Coquelicot Require Import Coquelicot.
From Discreet Require Import Sums Range.
Import ListNotations.
Open Scope R_scope.

Definition sum_over {A : Type} (f : A -> R) (l : list A) : R := fold_right (fun a s => f a + s) 0 l.

(* Each element of a list, with the others. *)
Fixpoint picks (l : list nat) : list (nat * list nat) :=
  match l with
  | [] => []
  | a :: l' => (a, l') :: map (fun pick => (fst pick, a :: snd pick)) (picks l')
  end.

(* The probability that r is answered while `rest` is to be visited, at most `fuel` of them: the next is any one of
   them, all equally likely; it is answered with probability w, and else put away. *)
Fixpoint flip (fuel : nat) (w : nat -> R) (rest : list nat) (r : nat) : R :=
  match fuel with
  | O => 0
  | S fuel' =>
      / INR (length rest) *
      sum_over (fun pick => (if Nat.eqb (fst pick) r then w r else 0) + (1 - w (fst pick)) * flip fuel' w (snd pick) r)
        (picks rest)
  end.

(* Toss the coins of `rest`, then answer any one of the heads, all equally likely. *)
Fixpoint one_of_the_heads (w : nat -> R) (rest heads : list nat) (r : nat) : R :=
  match rest with
  | [] => if existsb (Nat.eqb r) heads then / INR (length heads) else 0
  | j :: rest' => w j * one_of_the_heads w rest' (j :: heads) r + (1 - w j) * one_of_the_heads w rest' heads r
  end.

(* The chance that none but r has arrived by the time t: the product of 1 - w j t over the others. *)
Fixpoint none_else (w : nat -> R) (l : list nat) (r : nat) (t : R) : R :=
  match l with
  | [] => 1
  | j :: l' => (if Nat.eqb j r then 1 else 1 - w j * t) * none_else w l' r t
  end.

Definition closed_form (w : nat -> R) (l : list nat) (r : nat) : R := w r * RInt (none_else w l r) 0 1.

(* ---- Sums over lists ---- *)

Lemma sum_over_ext : forall A (f g : A -> R) l, (forall a, In a l -> f a = g a) -> sum_over f l = sum_over g l.
Proof.
  intros A f g l same. induction l as [|a l IH]; cbn; [reflexivity|].
  rewrite (same a) by (left; reflexivity). f_equal. apply IH. intros b in_l. apply same. right. exact in_l.
Qed.

Lemma sum_over_map : forall A B (f : B -> R) (g : A -> B) l, sum_over f (map g l) = sum_over (fun a => f (g a)) l.
Proof.
  intros A B f g l. induction l as [|a l IH]; [reflexivity|].
  cbn [map]. change (f (g a) + sum_over f (map g l) = f (g a) + sum_over (fun x => f (g x)) l).
  rewrite IH. reflexivity.
Qed.

Lemma sum_over_plus :
  forall A (f g : A -> R) l, sum_over (fun a => f a + g a) l = sum_over f l + sum_over g l.
Proof.
  intros A f g l. induction l as [|a l IH]; [cbn; lra|].
  change (f a + g a + sum_over (fun x => f x + g x) l = f a + sum_over f l + (g a + sum_over g l)). lra.
Qed.

Lemma sum_over_scal : forall A c (f : A -> R) l, sum_over (fun a => c * f a) l = c * sum_over f l.
Proof.
  intros A c f l. induction l as [|a l IH]; [cbn; lra|].
  change (c * f a + sum_over (fun x => c * f x) l = c * (f a + sum_over f l)). lra.
Qed.

Lemma picks_first : forall l, map fst (picks l) = l.
Proof.
  induction l as [|a l IH]; cbn; [reflexivity|]. f_equal.
  rewrite map_map. cbn. exact IH.
Qed.

Lemma picks_length : forall l pick, In pick (picks l) -> S (length (snd pick)) = length l.
Proof.
  induction l as [|a l IH]; cbn; intros pick in_l; [destruct in_l|].
  destruct in_l as [head|tail]; [subst; reflexivity|].
  apply in_map_iff in tail. destruct tail as [inner [same in_inner]]. subst. cbn.
  f_equal. apply IH. exact in_inner.
Qed.

Lemma picks_members : forall l pick x, In pick (picks l) -> In x l -> x = fst pick \/ In x (snd pick).
Proof.
  induction l as [|a l IH]; cbn; intros pick x in_l in_x; [destruct in_l|].
  destruct in_l as [head|tail].
  - subst. cbn. destruct in_x; [left; congruence|right; assumption].
  - apply in_map_iff in tail. destruct tail as [inner [same in_inner]]. subst. cbn.
    destruct in_x as [here|there]; [right; left; exact here|].
    destruct (IH inner x in_inner there); [left|right; right]; assumption.
Qed.

Lemma picks_are_members : forall l pick, In pick (picks l) -> In (fst pick) l /\ incl (snd pick) l.
Proof.
  induction l as [|a l IH]; cbn; intros pick in_l; [destruct in_l|].
  destruct in_l as [head|tail].
  - subst. cbn. split; [left; reflexivity|intros x in_x; right; exact in_x].
  - apply in_map_iff in tail. destruct tail as [inner [same in_inner]]. subst. cbn.
    destruct (IH inner in_inner) as [first others]. split; [right; exact first|].
    intros x [here|there]; [left; exact here|right; apply others; exact there].
Qed.

Lemma picks_distinct :
  forall l pick, NoDup l -> In pick (picks l) -> NoDup (snd pick) /\ ~ In (fst pick) (snd pick).
Proof.
  induction l as [|a l IH]; cbn; intros pick distinct in_l; [destruct in_l|].
  inversion distinct as [|b m not_a distinct' eq]. subst.
  destruct in_l as [head|tail]; [subst; cbn; split; assumption|].
  apply in_map_iff in tail. destruct tail as [inner [same in_inner]]. subst. cbn.
  destruct (IH inner distinct' in_inner) as [others not_first].
  destruct (picks_are_members l inner in_inner) as [first incl_l]. split.
  - constructor; [|exact others]. intros in_a. apply not_a. apply incl_l. exact in_a.
  - intros [same|there]; [|apply not_first; exact there]. apply not_a. rewrite same. exact first.
Qed.

(* ---- The product and its integral ---- *)

Lemma none_else_continuous : forall w l r t, continuous (none_else w l r) t.
Proof.
  intros w l r. induction l as [|j l IH]; intros t; cbn [none_else].
  - apply continuous_const.
  - apply (continuous_mult (K := R_AbsRing)); [|apply IH].
    destruct (Nat.eqb j r); [apply continuous_const|].
    apply (continuous_minus (V := R_NormedModule)); [apply continuous_const|].
    apply (continuous_mult (K := R_AbsRing)); [apply continuous_const|apply continuous_id].
Qed.

Lemma none_else_integrable : forall w l r a b, ex_RInt (none_else w l r) a b.
Proof.
  intros w l r a b. apply (ex_RInt_continuous (V := R_CompleteNormedModule)).
  intros t _. apply none_else_continuous.
Qed.

Lemma none_else_at_zero : forall w l r, none_else w l r 0 = 1.
Proof.
  intros w l r. induction l as [|j l IH]; cbn; [reflexivity|]. rewrite IH. destruct (Nat.eqb j r); ring.
Qed.

Definition slope (w : nat -> R) (l : list nat) (r : nat) (t : R) : R :=
  sum_over (fun pick => if Nat.eqb (fst pick) r then 0 else - w (fst pick) * none_else w (snd pick) r t) (picks l).

Lemma none_else_derive : forall w l r t, is_derive (none_else w l r) t (slope w l r t).
Proof.
  intros w l r t. induction l as [|j l IH].
  - cbn. apply (is_derive_const (V := R_NormedModule)).
  - set (a := fun t => if Nat.eqb j r then 1 else 1 - w j * t).
    assert (da : is_derive a t (if Nat.eqb j r then 0 else - w j)).
    { unfold a. destruct (Nat.eqb j r).
      - apply (is_derive_const (V := R_NormedModule)).
      - auto_derive; [exact I|ring]. }
    pose proof (is_derive_mult a (none_else w l r) t _ _ da IH Rmult_comm) as both.
    assert (same : slope w (j :: l) r t =
              plus (mult (if Nat.eqb j r then 0 else - w j) (none_else w l r t)) (mult (a t) (slope w l r t))).
    { unfold plus, mult; cbn -[sum_over]. unfold slope. cbn [picks].
      set (part := fun pick : nat * list nat =>
        if Nat.eqb (fst pick) r then 0 else - w (fst pick) * none_else w (snd pick) r t).
      change (part (j, l) + sum_over part (map (fun pick => (fst pick, j :: snd pick)) (picks l)) =
        (if Nat.eqb j r then 0 else - w j) * none_else w l r t + a t * sum_over part (picks l)).
      unfold part at 1. cbn [fst snd].
      rewrite sum_over_map, <- sum_over_scal. f_equal.
      - destruct (Nat.eqb j r); ring.
      - apply sum_over_ext. intros pick _. unfold part. cbn [fst snd none_else]. fold (a t).
        destruct (Nat.eqb (fst pick) r); ring. }
    rewrite same. exact both.
Qed.

Lemma picks_product :
  forall w l r t pick, In pick (picks l) ->
    none_else w l r t = (if Nat.eqb (fst pick) r then 1 else 1 - w (fst pick) * t) * none_else w (snd pick) r t.
Proof.
  intros w l r t. induction l as [|j l IH]; cbn [picks]; intros pick in_l; [destruct in_l|].
  destruct in_l as [head|tail]; [subst; reflexivity|].
  apply in_map_iff in tail. destruct tail as [inner [same in_inner]]. subst. cbn [fst snd none_else].
  rewrite (IH inner in_inner). ring.
Qed.

Lemma once :
  forall l r, NoDup l -> In r l -> sum_over (fun j => if Nat.eqb j r then 1 else 0) l = 1.
Proof.
  assert (none : forall l r, ~ In r l -> sum_over (fun j => if Nat.eqb j r then 1 else 0) l = 0).
  { induction l as [|j l IH]; intros r not_in; [reflexivity|].
    change ((if Nat.eqb j r then 1 else 0) + sum_over (fun j => if Nat.eqb j r then 1 else 0) l = 0).
    rewrite IH by (intros in_l; apply not_in; right; exact in_l).
    destruct (Nat.eqb_spec j r); [exfalso; apply not_in; left; assumption|lra]. }
  induction l as [|j l IH]; intros r distinct in_r; [destruct in_r|].
  inversion distinct as [|b m not_j distinct' eq]. subst.
  change ((if Nat.eqb j r then 1 else 0) + sum_over (fun j => if Nat.eqb j r then 1 else 0) l = 1).
  destruct (Nat.eqb_spec j r) as [same|other].
  - subst. rewrite none by exact not_j. lra.
  - destruct in_r as [here|there]; [contradiction|]. rewrite IH by assumption. lra.
Qed.

Lemma sum_over_const : forall A c (l : list A), sum_over (fun _ => c) l = INR (length l) * c.
Proof.
  intros A c l. induction l as [|a l IH]; [cbn; lra|].
  cbn [length]. rewrite S_INR. change (c + sum_over (fun _ => c) l = (INR (length l) + 1) * c). lra.
Qed.

Lemma picks_count : forall l, length (picks l) = length l.
Proof. intros l. rewrite <- (map_length fst), picks_first. reflexivity. Qed.

(* The others, each put away: what is left of the product. *)
Lemma others_pointwise :
  forall w l r t, NoDup l -> In r l ->
    sum_over (fun pick => if Nat.eqb (fst pick) r then 0 else (1 - w (fst pick)) * none_else w (snd pick) r t) (picks l)
    = INR (length l) * none_else w l r t + ((1 - t) * slope w l r t - none_else w l r t).
Proof.
  intros w l r t distinct in_r. set (N := none_else w l r t).
  transitivity (sum_over (fun pick => (N + (1 - t) * (if Nat.eqb (fst pick) r then 0 else - w (fst pick) * none_else w (snd pick) r t))
      + - N * (if Nat.eqb (fst pick) r then 1 else 0)) (picks l)).
  - apply sum_over_ext. intros pick in_l. pose proof (picks_product w l r t pick in_l) as product.
    fold N in product. destruct (Nat.eqb (fst pick) r); [ring|]. rewrite product. ring.
  - rewrite sum_over_plus, sum_over_plus, !sum_over_scal, sum_over_const, picks_count. fold (slope w l r t).
    pose proof (sum_over_map _ _ (fun j => if Nat.eqb j r then 1 else 0) fst (picks l)) as firsts.
    rewrite picks_first, once in firsts by assumption. rewrite <- firsts. ring.
Qed.

Lemma RInt_sum_over :
  forall A (f : A -> R -> R) l a b,
    (forall x, In x l -> ex_RInt (f x) a b) ->
    is_RInt (fun t => sum_over (fun x => f x t) l) a b (sum_over (fun x => RInt (f x) a b) l).
Proof.
  intros A f l a b each. induction l as [|x l IH].
  - pose proof (is_RInt_const (V := R_NormedModule) a b 0) as zero.
    match type of zero with is_RInt _ _ _ ?v => assert (nothing : v = 0) by (cbn; unfold scal; cbn; unfold mult; cbn; ring) end.
    rewrite nothing in zero. exact zero.
  - apply (is_RInt_plus (V := R_NormedModule)).
    + apply (RInt_correct (V := R_CompleteNormedModule)). apply each. left. reflexivity.
    + apply IH. intros y in_l. apply each. right. exact in_l.
Qed.

Lemma slope_continuous : forall w l r t, continuous (slope w l r) t.
Proof.
  intros w l r t. unfold slope. induction (picks l) as [|pick ps IH].
  - cbn. apply continuous_const.
  - apply (continuous_plus (V := R_NormedModule)); [|exact IH].
    destruct (Nat.eqb (fst pick) r); [apply continuous_const|].
    apply (continuous_mult (K := R_AbsRing)); [apply continuous_const|apply none_else_continuous].
Qed.

(* By parts. *)
Lemma parts :
  forall w l r, is_RInt (fun t => (1 - t) * slope w l r t - none_else w l r t) 0 1 (- 1).
Proof.
  intros w l r.
  replace (- 1) with (minus ((1 - 1) * none_else w l r 1) ((1 - 0) * none_else w l r 0))
    by (rewrite none_else_at_zero; unfold minus, plus, opp; cbn; ring).
  apply (is_RInt_derive (V := R_CompleteNormedModule) (fun t => (1 - t) * none_else w l r t)).
  - intros t _.
    replace ((1 - t) * slope w l r t - none_else w l r t)
      with (plus (mult (-1) (none_else w l r t)) (mult (1 - t) (slope w l r t)))
      by (unfold plus, mult; cbn; ring).
    apply (is_derive_mult (fun t => 1 - t)); [|apply none_else_derive|exact Rmult_comm].
    auto_derive; [exact I|ring].
  - intros t _. apply (continuous_minus (V := R_NormedModule)); [|apply none_else_continuous].
    apply (continuous_mult (K := R_AbsRing)); [|apply slope_continuous].
    apply (continuous_minus (V := R_NormedModule)); [apply continuous_const|apply continuous_id].
Qed.

Lemma others_integral :
  forall w l r, NoDup l -> In r l ->
    sum_over (fun pick => if Nat.eqb (fst pick) r then 0
                          else (1 - w (fst pick)) * RInt (none_else w (snd pick) r) 0 1) (picks l)
    = INR (length l) * RInt (none_else w l r) 0 1 - 1.
Proof.
  intros w l r distinct in_r.
  set (f := fun (pick : nat * list nat) (t : R) =>
         if Nat.eqb (fst pick) r then 0 else (1 - w (fst pick)) * none_else w (snd pick) r t).
  assert (integrable : forall pick, ex_RInt (f pick) 0 1).
  { intros pick. unfold f. destruct (Nat.eqb (fst pick) r).
    - apply (ex_RInt_const (V := R_NormedModule)).
    - apply (ex_RInt_scal (V := R_NormedModule)). apply none_else_integrable. }
  transitivity (sum_over (fun pick => RInt (f pick) 0 1) (picks l)).
  - apply sum_over_ext. intros pick _. unfold f. destruct (Nat.eqb (fst pick) r).
    + rewrite RInt_const. unfold scal. cbn. unfold mult. cbn. ring.
    + symmetry. apply (RInt_scal (V := R_CompleteNormedModule)). apply none_else_integrable.
  - pose proof (RInt_sum_over _ f (picks l) 0 1 (fun pick _ => integrable pick)) as left_.
    assert (right_ : is_RInt (fun t => sum_over (fun pick => f pick t) (picks l)) 0 1
              (plus (scal (INR (length l)) (RInt (none_else w l r) 0 1)) (- 1))).
    { apply (is_RInt_ext (V := R_NormedModule)
        (fun t => plus (scal (INR (length l)) (none_else w l r t)) ((1 - t) * slope w l r t - none_else w l r t))).
      - intros t _. symmetry. apply others_pointwise; assumption.
      - apply (is_RInt_plus (V := R_NormedModule)); [|apply parts].
        apply (is_RInt_scal (V := R_NormedModule)). apply (RInt_correct (V := R_CompleteNormedModule)).
        apply none_else_integrable. }
    rewrite <- (is_RInt_unique (V := R_CompleteNormedModule) _ _ _ _ left_).
    rewrite (is_RInt_unique (V := R_CompleteNormedModule) _ _ _ _ right_).
    unfold plus, scal. cbn. unfold mult. cbn. ring.
Qed.

Lemma flip_absent : forall fuel w rest r, ~ In r rest -> flip fuel w rest r = 0.
Proof.
  induction fuel as [|fuel IH]; intros w rest r absent; cbn [flip]; [reflexivity|].
  rewrite (sum_over_ext _ _ (fun _ => 0)), sum_over_const; [ring|].
  intros pick in_rest. destruct (picks_are_members rest pick in_rest) as [first others].
  rewrite IH by (intros in_r; apply absent; apply others; exact in_r).
  destruct (Nat.eqb_spec (fst pick) r); [exfalso; apply absent; congruence|ring].
Qed.

Lemma flip_value :
  forall fuel w rest r, NoDup rest -> In r rest -> length rest = fuel ->
    flip fuel w rest r = closed_form w rest r.
Proof.
  induction fuel as [|fuel IH]; intros w rest r distinct in_r all.
  - destruct rest; [destruct in_r|discriminate].
  - cbn [flip]. unfold closed_form.
    rewrite (sum_over_ext _ _ (fun pick => w r * ((if Nat.eqb (fst pick) r then 1 else 0) +
      (if Nat.eqb (fst pick) r then 0 else (1 - w (fst pick)) * RInt (none_else w (snd pick) r) 0 1)))).
    + rewrite sum_over_scal, sum_over_plus, others_integral by assumption.
      pose proof (sum_over_map _ _ (fun j => if Nat.eqb j r then 1 else 0) fst (picks rest)) as firsts.
      rewrite picks_first, once in firsts by assumption. rewrite <- firsts.
      assert (some : INR (length rest) <> 0) by (rewrite all; apply not_0_INR; lia).
      field. exact some.
    + intros pick in_rest. pose proof (picks_length rest pick in_rest) as shorter.
      destruct (picks_distinct rest pick distinct in_rest) as [others not_first].
      destruct (Nat.eqb_spec (fst pick) r) as [same|other].
      * rewrite flip_absent by (rewrite <- same; exact not_first). ring.
      * rewrite IH; [unfold closed_form; ring|exact others| |lia].
        destruct (picks_members rest pick r in_rest in_r); [congruence|assumption].
Qed.

(* The recursion is the integral. *)
Theorem flip_is_the_integral :
  forall w candidates r, NoDup candidates -> In r candidates ->
    flip (length candidates) w candidates r =
    w r * RInt (fun t => fold_right Rmult 1 (map (fun j => if Nat.eqb j r then 1 else 1 - w j * t) candidates)) 0 1.
Proof.
  intros w candidates r distinct in_r. rewrite flip_value by (try assumption; reflexivity).
  unfold closed_form. f_equal. apply RInt_ext. intros t _. clear distinct in_r.
  induction candidates as [|j l IH]; cbn; [reflexivity|]. rewrite IH. reflexivity.
Qed.

(* ---- One of the heads ---- *)

Lemma power_integral : forall h, is_RInt (fun t => (1 - t) ^ h) 0 1 (/ INR (S h)).
Proof.
  intros h. assert (some : INR (S h) <> 0) by (apply not_0_INR; lia).
  replace (/ INR (S h)) with (minus (- (1 - 1) ^ S h / INR (S h)) (- (1 - 0) ^ S h / INR (S h))).
  - apply (is_RInt_derive (V := R_CompleteNormedModule) (fun t => - (1 - t) ^ S h / INR (S h))).
    + intros t _. auto_derive; [exact I|]. cbn [Nat.pred].
      change (match h with O => 1 | S _ => INR h + 1 end) with (INR (S h)).
      unfold Rminus. set (x := (1 + - t) ^ h). field. exact some.
    + intros t _. apply (continuous_comp (fun t => 1 - t) (fun x => x ^ h)).
      * apply (continuous_minus (V := R_NormedModule)); [apply continuous_const|apply continuous_id].
      * apply (ex_derive_continuous (V := R_NormedModule)). auto_derive. exact I.
  - unfold minus, plus, opp. cbn [pow]. cbn -[INR]. rewrite Rminus_0_r, pow1. field. exact some.
Qed.

Definition with_heads (w : nat -> R) (l : list nat) (r h : nat) (t : R) : R := (1 - t) ^ h * none_else w l r t.

Lemma with_heads_integrable : forall w l r h, ex_RInt (with_heads w l r h) 0 1.
Proof.
  intros w l r h. apply (ex_RInt_continuous (V := R_CompleteNormedModule)). intros t _.
  apply (continuous_mult (K := R_AbsRing)); [|apply none_else_continuous].
  apply (ex_derive_continuous (V := R_NormedModule)). auto_derive. exact I.
Qed.

(* One more coin, heads or tails. *)
Lemma one_coin :
  forall w l r h j, Nat.eqb j r = false ->
    RInt (with_heads w (j :: l) r h) 0 1 =
    w j * RInt (with_heads w l r (S h)) 0 1 + (1 - w j) * RInt (with_heads w l r h) 0 1.
Proof.
  intros w l r h j other. apply (is_RInt_unique (V := R_CompleteNormedModule)).
  apply (is_RInt_ext (V := R_NormedModule)
    (fun t => plus (scal (w j) (with_heads w l r (S h) t)) (scal (1 - w j) (with_heads w l r h t)))).
  - intros t _. unfold with_heads, plus, scal. cbn. unfold mult. cbn. rewrite other. ring.
  - apply (is_RInt_plus (V := R_NormedModule)); apply (is_RInt_scal (V := R_NormedModule));
      apply (RInt_correct (V := R_CompleteNormedModule)); apply with_heads_integrable.
Qed.

Lemma exists_in : forall r heads, existsb (Nat.eqb r) heads = true <-> In r heads.
Proof.
  intros r heads. rewrite existsb_exists. split.
  - intros [x [in_x same]]. apply Nat.eqb_eq in same. subst. exact in_x.
  - intros in_r. exists r. split; [exact in_r|apply Nat.eqb_refl].
Qed.

Lemma no_head_no_answer : forall w rest heads r, ~ In r rest -> ~ In r heads -> one_of_the_heads w rest heads r = 0.
Proof.
  induction rest as [|j rest IH]; intros heads r not_rest not_heads; cbn [one_of_the_heads].
  - destruct (existsb (Nat.eqb r) heads) eqn:there; [|reflexivity].
    exfalso. apply not_heads. apply exists_in. exact there.
  - rewrite !IH; try ring; try (intros in_r; apply not_rest; right; exact in_r); [assumption|].
    intros [here|there]; [apply not_rest; left; exact here|apply not_heads; exact there].
Qed.

Lemma head_value :
  forall w rest heads r h, ~ In r rest -> In r heads -> length heads = S h ->
    one_of_the_heads w rest heads r = RInt (with_heads w rest r h) 0 1.
Proof.
  induction rest as [|j rest IH]; intros heads r h not_rest in_heads many; cbn [one_of_the_heads].
  - rewrite (proj2 (exists_in r heads) in_heads), many. symmetry.
    apply (is_RInt_unique (V := R_CompleteNormedModule)).
    apply (is_RInt_ext (V := R_NormedModule) (fun t => (1 - t) ^ h)); [|apply power_integral].
    intros t _. unfold with_heads. cbn. ring.
  - assert (other : Nat.eqb j r = false).
    { apply Nat.eqb_neq. intros same. apply not_rest. left. exact same. }
    rewrite one_coin by exact other.
    rewrite (IH (j :: heads) r (S h)), (IH heads r h); try assumption; try reflexivity.
    + intros in_r. apply not_rest. right. exact in_r.
    + intros in_r. apply not_rest. right. exact in_r.
    + right. exact in_heads.
    + cbn. rewrite many. reflexivity.
Qed.

Lemma toss_value :
  forall w rest heads r, NoDup rest -> In r rest -> ~ In r heads ->
    one_of_the_heads w rest heads r = w r * RInt (with_heads w rest r (length heads)) 0 1.
Proof.
  induction rest as [|j rest IH]; intros heads r distinct in_rest not_heads; [destruct in_rest|].
  inversion distinct as [|a l not_j distinct' eq]. subst. cbn [one_of_the_heads].
  destruct (Nat.eqb_spec j r) as [same|other].
  - subst. rewrite (no_head_no_answer w rest heads r not_j not_heads).
    rewrite (head_value w rest (r :: heads) r (length heads) not_j); [|left; reflexivity|reflexivity].
    replace (RInt (with_heads w (r :: rest) r (length heads)) 0 1) with (RInt (with_heads w rest r (length heads)) 0 1).
    + ring.
    + apply RInt_ext. intros t _. unfold with_heads. cbn. rewrite Nat.eqb_refl. ring.
  - destruct in_rest as [here|there]; [contradiction|].
    rewrite one_coin by (apply Nat.eqb_neq; exact other).
    rewrite (IH (j :: heads) r), (IH heads r); try assumption; [cbn [length]; ring|].
    intros [here|in_heads]; [apply other; exact here|apply not_heads; exact in_heads].
Qed.

(* All coins at once, then any of the heads: the same law as one visit after the other. *)
Theorem flip_is_one_of_the_heads :
  forall w candidates r, NoDup candidates -> In r candidates ->
    flip (length candidates) w candidates r = one_of_the_heads w candidates [] r.
Proof.
  intros w candidates r distinct in_r.
  rewrite flip_value by (try assumption; reflexivity).
  rewrite toss_value; try assumption; [|intros []]. unfold closed_form. f_equal.
  apply RInt_ext. intros t _. unfold with_heads. cbn. ring.
Qed.

(* ---- The mechanism ---- *)

Fixpoint best (n : nat) (s : nat -> R) : R :=
  match n with
  | O => 0
  | S O => s 0%nat
  | S m => Rmax (best m s) (s m)
  end.

Definition gap (n : nat) (s : nat -> R) (i : nat) : R := best n s - s i.

Definition coin_of (n : nat) (eta : R) (s : nat -> R) (i : nat) : R := exp (- (eta * gap n s i)).

Definition pf (n : nat) (eta : R) (s : nat -> R) (r : nat) : R := flip n (coin_of n eta s) (seq 0 n) r.

Lemma best_is_most : forall n s i, (i < n)%nat -> s i <= best n s.
Proof.
  induction n as [|[|n] IH]; intros s i lt; [lia|replace i with 0%nat by lia; apply Rle_refl|].
  change (s i <= Rmax (best (S n) s) (s (S n))).
  destruct (Nat.eq_dec i (S n)) as [last|earlier].
  - subst. apply Rmax_r.
  - apply Rle_trans with (best (S n) s); [apply IH; lia|apply Rmax_l].
Qed.

Lemma best_is_reached : forall n s, (0 < n)%nat -> exists i, (i < n)%nat /\ s i = best n s.
Proof.
  induction n as [|[|n] IH]; intros s some; [lia|exists 0%nat; split; [lia|reflexivity]|].
  destruct (IH s ltac:(lia)) as [i [lt here]].
  change (exists i, (i < S (S n))%nat /\ s i = Rmax (best (S n) s) (s (S n))).
  unfold Rmax. destruct (Rle_dec (best (S n) s) (s (S n))).
  - exists (S n). split; [lia|reflexivity].
  - exists i. split; [lia|exact here].
Qed.

Lemma coin_unit : forall n eta s i, 0 <= eta -> (i < n)%nat -> 0 < coin_of n eta s i <= 1.
Proof.
  intros n eta s i eta0 lt. unfold coin_of, gap. split; [apply exp_pos|].
  rewrite <- exp_0. apply exp_monotone. pose proof (best_is_most n s i lt).
  assert (0 <= eta * (best n s - s i)) by (apply Rmult_le_pos; lra). lra.
Qed.

Lemma pf_integral :
  forall n eta s r, (r < n)%nat -> pf n eta s r = closed_form (coin_of n eta s) (seq 0 n) r.
Proof.
  intros n eta s r lt. unfold pf. apply flip_value; [apply seq_NoDup|apply in_seq; lia|apply seq_length].
Qed.

Lemma heads_nonneg :
  forall w rest heads r, (forall j, In j rest -> 0 <= w j <= 1) -> 0 <= one_of_the_heads w rest heads r.
Proof.
  induction rest as [|j rest IH]; intros heads r unit; cbn [one_of_the_heads].
  - destruct (existsb (Nat.eqb r) heads) eqn:there; [|lra].
    destruct heads as [|a heads]; [discriminate|]. left. apply Rinv_0_lt_compat. apply lt_0_INR. cbn. lia.
  - destruct (unit j (or_introl eq_refl)) as [w0 w1].
    pose proof (IH (j :: heads) r (fun k there => unit k (or_intror there))).
    pose proof (IH heads r (fun k there => unit k (or_intror there))).
    assert (0 <= w j * one_of_the_heads w rest (j :: heads) r) by (apply Rmult_le_pos; assumption).
    assert (0 <= (1 - w j) * one_of_the_heads w rest heads r) by (apply Rmult_le_pos; lra). lra.
Qed.

Lemma sum_of_members :
  forall n c heads, NoDup heads -> (forall j, In j heads -> (j < n)%nat) ->
    sum n (fun r => if existsb (Nat.eqb r) heads then c else 0) = INR (length heads) * c.
Proof.
  intros n c heads. induction heads as [|a heads IH]; intros distinct below.
  - cbn. rewrite sum_zero. ring.
  - inversion distinct as [|b l not_a distinct' eq]. subst.
    rewrite (sum_ext n _ (fun r => (if Nat.eqb r a then c else 0) + (if existsb (Nat.eqb r) heads then c else 0))).
    + rewrite sum_plus, IH, sum_only; [|apply below; left; reflexivity|exact distinct'|].
      * cbn [length]. rewrite S_INR. ring.
      * intros j there. apply below. right. exact there.
    + intros r _. cbn [existsb]. destruct (Nat.eqb_spec r a) as [same|other]; cbn [orb]; [|ring].
      subst. destruct (existsb (Nat.eqb a) heads) eqn:there; [|ring].
      exfalso. apply not_a. apply exists_in. exact there.
Qed.

Lemma heads_total :
  forall n w rest heads,
    NoDup (rest ++ heads) -> (forall j, In j (rest ++ heads) -> (j < n)%nat) ->
    heads <> [] \/ (exists j, In j rest /\ w j = 1) ->
    sum n (one_of_the_heads w rest heads) = 1.
Proof.
  induction rest as [|j rest IH]; intros heads distinct below some.
  - destruct some as [some|[j [[] _]]]. cbn [one_of_the_heads].
    rewrite sum_of_members by assumption.
    field. apply not_0_INR. destruct heads; [contradiction|cbn; lia].
  - cbn [one_of_the_heads]. rewrite sum_plus, !sum_scal.
    cbn [app] in distinct, below. inversion distinct as [|a l not_j distinct' eq]. subst.
    assert (moved : NoDup (rest ++ j :: heads)) by (apply NoDup_Add with (a := j) (l := rest ++ heads);
      [apply Add_app|split; assumption]).
    rewrite (IH (j :: heads) moved).
    + destruct some as [some|[k [[same|there] one]]].
      * rewrite (IH heads); [ring|assumption| |left; exact some].
        intros k there. apply below. right. exact there.
      * subst. rewrite one. ring.
      * rewrite (IH heads); [ring|assumption| |right; exists k; split; assumption].
        intros m there'. apply below. right. exact there'.
    + intros k there. apply below. apply in_app_or in there.
      destruct there as [there|[here|there]]; [right; apply in_or_app; left; exact there|left; exact here|].
      right. apply in_or_app. right. exact there.
    + left. discriminate.
Qed.

Theorem pf_law : forall n eta s, 0 <= eta -> (0 < n)%nat -> law n (pf n eta s).
Proof.
  intros n eta s eta0 some.
  assert (same : forall r, (r < n)%nat -> pf n eta s r = one_of_the_heads (coin_of n eta s) (seq 0 n) [] r).
  { intros r lt. unfold pf.
    pose proof (flip_is_one_of_the_heads (coin_of n eta s) (seq 0 n) r (seq_NoDup n 0)) as heads.
    rewrite seq_length in heads. apply heads. apply in_seq. lia. }
  split.
  - intros r lt. rewrite same by exact lt. apply heads_nonneg. intros j there. apply in_seq in there.
    pose proof (coin_unit n eta s j eta0 ltac:(lia)). lra.
  - rewrite (sum_ext n _ (one_of_the_heads (coin_of n eta s) (seq 0 n) [])) by exact same.
    apply heads_total.
    + rewrite app_nil_r. apply seq_NoDup.
    + intros j there. rewrite app_nil_r in there. apply in_seq in there. lia.
    + right. destruct (best_is_reached n s some) as [i [lt here]]. exists i.
      split; [apply in_seq; lia|]. unfold coin_of, gap. rewrite here.
      replace (- (eta * (best n s - best n s))) with 0 by ring. apply exp_0.
Qed.
